"""`.devteam/config.toml`: typed settings; wrong ones are refused with file, line and the nearest right key.

`engine.config.commented.write_default` writes the file for a newcomer; it is apart, since few commands need it.
"""

from engine.config.base import argv
from engine.config.commands import commands_of
from engine.config.config_errors import ConfigError, ConfigRefused
from engine.config.load import config_hash, load, parse
from engine.config.sections import Config
from engine.config.to_policy import to_policy

__all__ = ["Config", "ConfigError", "ConfigRefused", "argv", "commands_of", "config_hash", "load", "parse", "to_policy"]
