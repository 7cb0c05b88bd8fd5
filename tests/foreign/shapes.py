"""Projects as ordinary people write them, where the registries have none to fetch: real tools, files of our own."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.foreign.fetch import environment
from tests.foreign.projects import PROJECTS, UNITTEST, Foreign, python

CART = "def total(prices):\n    result = 0\n    for price in prices:\n        result += price\n    return result\n\n\ndef cheapest(prices):\n    return min(prices)\n"
CART_TEST = "from shop.cart import cheapest, total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n\n\ndef test_cheapest():\n    assert cheapest([3, 1]) == 1\n"
BROKEN = ("shop/cart.py", "        result += price\n", "        result = price\n")
NEEDS_ENV = "\n\ndef test_surroundings():\n    import os\n\n    assert os.environ['APP_ENV'] == 'test'\n"
PYTEST = (".venv/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider")


def files(table: dict[str, str], *then: Callable[[Path], object]) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        for name, text in table.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        for step in then:
            step(folder)

    return make


def _environment(*wanted: str) -> Callable[[Path], None]:
    return lambda folder: environment(folder, *wanted, editable=False)


def _locked(folder: Path) -> None:
    subprocess.run(["cargo", "generate-lockfile", "--offline"], cwd=folder, check=True, capture_output=True)


TOX = "[tox]\nenvlist = py311\n[testenv]\ndeps = pytest\nsetenv =\n    APP_ENV = test\npassenv = HOME\ncommands = pytest {posargs:tests}\n"
NOX = 'import nox\n\n\n@nox.session(python=["3.11"])\ndef tests(session: nox.Session) -> None:\n    session.run("pytest", "spec", *session.posargs, env={"APP_ENV": "test"})\n'
RED = "from shop.cart import total\n\n\ndef test_known_red():\n    assert total(['a']) == 'b'\n\n\ndef test_also_red():\n    assert 1 == 2\n\n\ndef test_fine():\n    assert total([]) == 0\n"

MANAGE = 'import os\nimport sys\n\nif __name__ == "__main__":\n    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site_.settings")\n    from django.core.management import execute_from_command_line\n\n    execute_from_command_line(sys.argv)\n'
SETTINGS = 'from pathlib import Path\n\nBASE_DIR = Path(__file__).resolve().parent.parent\nSECRET_KEY = "insecure-for-development-only"\nINSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "shop"]\nDATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": BASE_DIR / "db.sqlite3"}}\nDEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"\nUSE_TZ = True\n'
MODELS = 'from django.db import models\n\n\nclass Item(models.Model):\n    name = models.CharField(max_length=50)\n    price = models.IntegerField()\n\n    def label(self):\n        return f"{self.name}: {self.price}"\n'
MIGRATION = 'from django.db import migrations, models\n\n\nclass Migration(migrations.Migration):\n    initial = True\n    dependencies = []\n    operations = [\n        migrations.CreateModel(\n            name="Item",\n            fields=[\n                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),\n                ("name", models.CharField(max_length=50)),\n                ("price", models.IntegerField()),\n            ],\n        )\n    ]\n'
DJANGO_TEST = 'from django.test import TestCase\n\nfrom shop.cart import total\nfrom shop.models import Item\n\n\nclass ItemTest(TestCase):\n    def test_label(self):\n        Item.objects.create(name="tea", price=3)\n        self.assertEqual(Item.objects.get().label(), "tea: 3")\n\n    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n'
DJANGO = {
    "manage.py": MANAGE, "requirements.txt": "Django\n", "site_/__init__.py": "", "site_/settings.py": SETTINGS, "shop/__init__.py": "",
    "shop/models.py": MODELS, "shop/migrations/__init__.py": "", "shop/migrations/0001_initial.py": MIGRATION, "shop/cart.py": CART, "shop/tests.py": DJANGO_TEST,
}  # fmt: skip

GO = {
    "go.mod": "module example.com/shop\n\ngo 1.19\n",
    "cmd/shopd/main.go": 'package main\n\nimport (\n\t"fmt"\n\n\t"example.com/shop/internal/cart"\n)\n\nfunc main() {\n\tfmt.Println(cart.Total([]int{1, 2}))\n}\n',
    "internal/cart/cart.go": "// Package cart sums.\npackage cart\n\n// Total adds prices.\nfunc Total(prices []int) int {\n\tsum := 0\n\tfor _, price := range prices {\n\t\tsum += price\n\t}\n\treturn sum\n}\n",
    "internal/cart/cart_test.go": 'package cart\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n\tfor _, c := range []struct {\n\t\tname string\n\t\tin   []int\n\t\twant int\n\t}{{"none", nil, 0}, {"two", []int{1, 2}, 3}} {\n\t\tt.Run(c.name, func(t *testing.T) {\n\t\t\tif got := Total(c.in); got != c.want {\n\t\t\t\tt.Errorf("got %d want %d", got, c.want)\n\t\t\t}\n\t\t})\n\t}\n}\n',
    "pkg/version/version.go": "package version\n\n// V is it.\nconst V = 1\n",
}
GO_ADDED = "\n// DevteamAdded adds one.\nfunc DevteamAdded(number int) int { return number + 1 }\n"
GO_TEST = 'package cart\n\nimport "testing"\n\nfunc TestDevteamAdded(t *testing.T) {\n\tif DevteamAdded(2) != 3 {\n\t\tt.Fatal("not added")\n\t}\n}\n'

CARGO = {
    "Cargo.toml": '[workspace]\nmembers = ["cart", "shop"]\nresolver = "2"\n',
    "cart/Cargo.toml": '[package]\nname = "cart"\nversion = "0.1.0"\nedition = "2021"\n',
    "cart/src/lib.rs": "//! Sums.\n\n/// Adds prices.\n///\n/// ```\n/// assert_eq!(cart::total(&[1, 2]), 3);\n/// ```\npub fn total(prices: &[u32]) -> u32 {\n    prices.iter().sum()\n}\n",
    "cart/tests/whole.rs": "#[test]\nfn sums() {\n    assert_eq!(cart::total(&[1, 2, 3]), 6);\n}\n",
    "shop/Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\ncart = { path = "../cart" }\n',
    "shop/src/main.rs": 'fn main() {\n    println!("{}", cart::total(&[1, 2]));\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn runs() {\n        super::main();\n    }\n}\n',
}

LISTS = "cmake_minimum_required(VERSION 3.16)\nproject(cart CXX)\nadd_library(cart src/cart.cpp)\ntarget_include_directories(cart PUBLIC include)\nenable_testing()\nfile(GLOB tests tests/*.cpp)\nforeach(one ${tests})\n  get_filename_component(name ${one} NAME_WE)\n  add_executable(${name} ${one})\n  target_link_libraries(${name} cart)\n  add_test(NAME ${name} COMMAND ${name})\nendforeach()\n"
CMAKE = {
    "CMakeLists.txt": LISTS,
    "include/cart.h": "#pragma once\n#include <vector>\nint total(const std::vector<int>& prices);\n",
    "src/cart.cpp": '#include "cart.h"\n\nint total(const std::vector<int>& prices) {\n    int sum = 0;\n    for (int price : prices) sum += price;\n    return sum;\n}\n',
    "tests/test_total.cpp": '#undef NDEBUG\n#include <cassert>\n#include "cart.h"\nint main() { assert(total({1, 2}) == 3); }\n',
    "tests/test_none.cpp": '#undef NDEBUG\n#include <cassert>\n#include "cart.h"\nint main() { assert(total({}) == 0); }\n',
}
CTEST = "rm -rf build && cmake -S . -B build >/dev/null && cmake --build build >/dev/null && ctest --test-dir build"
C_MAKE = {
    "Makefile": "CC ?= cc\nCFLAGS ?= -Wall -O1\nBUILD = build\n\n$(BUILD)/%.o: src/%.c src/cart.h\n\t@mkdir -p $(BUILD)\n\t$(CC) $(CFLAGS) -c $< -o $@\n\n$(BUILD)/test_cart: tests/test_cart.c $(BUILD)/cart.o\n\t$(CC) $(CFLAGS) -Isrc $^ -o $@\n\ntest: $(BUILD)/test_cart\n\t./$(BUILD)/test_cart\n\nclean:\n\trm -rf $(BUILD)\n\n.PHONY: test clean\n",
    "src/cart.h": "#ifndef CART_H\n#define CART_H\nint total(const int *prices, int n);\n#endif\n",
    "src/cart.c": '#include "cart.h"\n\nint total(const int *prices, int n) {\n    int sum = 0;\n    for (int i = 0; i < n; i++) sum += prices[i];\n    return sum;\n}\n',
    "tests/test_cart.c": '#include <assert.h>\n#include <stdio.h>\n#include "cart.h"\n\nint main(void) {\n    int prices[] = {3, 1, 2};\n    assert(total(prices, 3) == 6);\n    puts("all tests passed");\n    return 0;\n}\n',
}

SHAPES = [
    python("tox-variables", "tests that need a variable of tox", files({"requirements.txt": "pytest\n", "tox.ini": TOX, "shop/__init__.py": "", "shop/cart.py": CART, "tests/test_cart.py": CART_TEST + NEEDS_ENV}, _environment("pytest")),
           BROKEN, "shop.cart", "tests/test_cart.py", "tests/test_devteam_added.py", own=("env", "APP_ENV=test", *PYTEST, "tests")),
    python("nox-only", "nox only, tests in spec/", files({"noxfile.py": NOX, "shop/__init__.py": "", "shop/cart.py": CART, "spec/test_cart.py": CART_TEST + NEEDS_ENV}, _environment("pytest")),
           BROKEN, "shop.cart", "spec/test_cart.py", "spec/test_devteam_added.py", own=("env", "APP_ENV=test", *PYTEST, "spec")),
    python("partly-red", "two tests red already", files({"requirements.txt": "pytest\n", "shop/__init__.py": "", "shop/cart.py": CART, "tests/__init__.py": "", "tests/test_cart.py": CART_TEST, "tests/test_old.py": RED}, _environment("pytest")),
           BROKEN, "shop.cart", "tests/test_cart.py", "tests/test_devteam_added.py", says=("2 red already",), own=(*PYTEST, "--deselect", "tests/test_old.py::test_known_red", "--deselect", "tests/test_old.py::test_also_red")),
    python("django", "manage.py test", files(DJANGO, _environment("Django")), BROKEN, "shop.cart", "shop/tests.py", "shop/test_devteam_added.py",
           text=UNITTEST, own=(".venv/bin/python", "manage.py", "test"), ignore=".venv/\n__pycache__/\ndb.sqlite3\n"),
    Foreign(name="go-service", what="Go with cmd/, internal/ and pkg/", make=files(GO), needs=("go",), broken=("internal/cart/cart.go", "\t\tsum += price\n", "\t\tsum = price\n"),
            added=("internal/cart/cart.go", GO_ADDED), test=("internal/cart/added_test.go", GO_TEST), guard="internal/cart/cart_test.go", own=("go", "test", "./...")),
    Foreign(name="cargo-workspace", what="two crates, an example, integration tests", make=files(CARGO, _locked), needs=("cargo",), broken=("cart/src/lib.rs", "prices.iter().sum()", "prices.iter().max().copied().unwrap_or(0)"),
            added=("cart/src/lib.rs", "\n/// Adds one.\npub fn devteam_added(number: u32) -> u32 {\n    number + 1\n}\n"), test=("cart/tests/added.rs", "#[test]\nfn added() {\n    assert_eq!(cart::devteam_added(2), 3);\n}\n"),
            guard="cart/tests/whole.rs", own=("cargo", "test", "--offline", "-q", "--workspace"), ignore="target/\n"),
    Foreign(name="cmake", what="C++ with CMake and ctest", make=files(CMAKE), needs=("cmake", "ctest", "c++"), broken=("src/cart.cpp", "sum += price", "sum = price"),
            added=("include/cart.h", "\ninline int devteam_added(int number) { return number + 1; }\n"), test=("tests/test_added.cpp", '#undef NDEBUG\n#include <cassert>\n#include "cart.h"\nint main() { assert(devteam_added(2) == 3); }\n'),
            guard="tests/test_total.cpp", own=("sh", "-c", CTEST), ignore="build/\n"),
    Foreign(name="c-make", what="C with a Makefile", make=files(C_MAKE), needs=("make", "cc"), broken=("src/cart.c", "sum += prices[i]", "sum = prices[i]"),
            added=("src/cart.h", "\nstatic inline int devteam_added(int number) { return number + 1; }\n"), test=("tests/test_cart.c", C_MAKE["tests/test_cart.c"].replace("    puts", "    assert(devteam_added(2) == 3);\n    puts")),
            guard="tests/test_cart.c", own=("sh", "-c", "make clean >/dev/null; make test"), ignore="build/\n"),
]  # fmt: skip

EVERY = [*PROJECTS, *SHAPES]
