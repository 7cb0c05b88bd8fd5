"""Projects as ordinary people write them, where the registries have none to fetch: real tools, files of our own."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.foreign.fetch import Unreachable, environment, node_modules
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


def junit4(text: str) -> str:
    """A test of JUnit 5's as one of JUnit 4's."""
    text = text.replace("org.junit.jupiter.api.Assertions", "org.junit.Assert").replace(
        "org.junit.jupiter.api", "org.junit"
    )
    return text.replace("\nclass ", "\npublic class ").replace("    void ", "    public void ")


def _jars(_folder: Path) -> None:
    if not Path("/usr/share/java/junit4.jar").exists():
        raise Unreachable("junit4.jar of the system's packages is not here")


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

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>shop</groupId>
  <artifactId>{name}</artifactId>
  <version>1.0</version>
{rest}</project>
"""
MAVEN_PROPERTIES = "  <properties>\n    <maven.compiler.release>17</maven.compiler.release>\n    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>\n  </properties>\n"
MAVEN_JUNIT = "  <dependencies>\n    <dependency>\n      <groupId>org.junit.jupiter</groupId>\n      <artifactId>junit-jupiter</artifactId>\n      <version>5.10.2</version>\n      <scope>test</scope>\n    </dependency>\n  </dependencies>\n"
MAVEN_PLUGINS = "  <build>\n    <plugins>\n      <plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>\n      <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>\n      <plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version></plugin>\n    </plugins>\n  </build>\n"
CART_JAVA = "package shop;\n\nimport java.util.List;\n\n/** Sums. */\npublic final class Cart {\n    private Cart() {}\n\n    /** Adds prices. */\n    public static int total(List<Integer> prices) {\n        int sum = 0;\n        for (int price : prices) {\n            sum += price;\n        }\n        return sum;\n    }\n}\n"
CART_JAVA_TEST = "package shop;\n\nimport static org.junit.jupiter.api.Assertions.assertEquals;\n\nimport java.util.List;\nimport org.junit.jupiter.api.Test;\n\nclass CartTest {\n    @Test\n    void sums() {\n        assertEquals(6, Cart.total(List.of(1, 2, 3)));\n    }\n\n    @Test\n    void nothing() {\n        assertEquals(0, Cart.total(List.of()));\n    }\n}\n"
ADDED_JAVA = "\n/** Adds one. */\nfinal class Added {\n    private Added() {}\n\n    static int one(int number) {\n        return number + 1;\n    }\n}\n"
ADDED_JAVA_TEST = "package shop;\n\nimport static org.junit.jupiter.api.Assertions.assertEquals;\n\nimport org.junit.jupiter.api.Test;\n\nclass AddedTest {\n    @Test\n    void adds() {\n        assertEquals(3, Added.one(2));\n    }\n}\n"
MAVEN = {
    "pom.xml": POM.format(name="cart", rest=MAVEN_PROPERTIES + MAVEN_JUNIT + MAVEN_PLUGINS),
    "src/main/java/shop/Cart.java": CART_JAVA, "src/test/java/shop/CartTest.java": CART_JAVA_TEST,
}  # fmt: skip

GRADLE_BUILD = "plugins {\n    id 'java'\n}\n\nrepositories {\n    flatDir { dirs '/usr/share/java' }\n}\n\ndependencies {\n    testCompile name: 'junit4'\n    testCompile name: 'hamcrest'\n}\n"
"""By the jars of Debian's packages: its Gradle is 4.4, older than JUnit 5's."""
GRADLE = {
    "build.gradle": GRADLE_BUILD, "settings.gradle": "rootProject.name = 'cart'\n",
    "src/main/java/shop/Cart.java": CART_JAVA, "src/test/java/shop/CartTest.java": junit4(CART_JAVA_TEST),
}  # fmt: skip

CART_TS = "export function total(prices: number[]): number {\n  let sum = 0;\n  for (const price of prices) {\n    sum += price;\n  }\n  return sum;\n}\n"
CART_TS_TEST = "import { total } from './cart';\n\ndescribe('total', () => {\n  it('sums', () => {\n    expect(total([1, 2, 3])).toBe(6);\n  });\n\n  it('is nothing for nothing', () => {\n    expect(total([])).toBe(0);\n  });\n});\n"
JEST_TS = {
    "package.json": '{\n  "name": "cart",\n  "version": "1.0.0",\n  "scripts": { "test": "jest", "build": "tsc" },\n  "devDependencies": {\n    "@types/jest": "^29.5.0",\n    "jest": "^29.7.0",\n    "ts-jest": "^29.2.0",\n    "typescript": "~5.6.0"\n  }\n}\n',
    "jest.config.js": "/** @type {import('jest').Config} */\nmodule.exports = { preset: 'ts-jest', testEnvironment: 'node' };\n",
    "tsconfig.json": '{\n  "compilerOptions": { "target": "ES2020", "module": "CommonJS", "strict": true, "outDir": "dist", "esModuleInterop": true },\n  "include": ["src"]\n}\n',
    "src/cart.ts": CART_TS, "src/cart.test.ts": CART_TS_TEST,
}  # fmt: skip


SHAPES = [
    Foreign(name="maven", what="Maven with JUnit 5", make=files(MAVEN), needs=("mvn", "java"), broken=("src/main/java/shop/Cart.java", "sum += price", "sum = price"),
            added=("src/main/java/shop/Cart.java", ADDED_JAVA), test=("src/test/java/shop/AddedTest.java", ADDED_JAVA_TEST), guard="src/test/java/shop/CartTest.java",
            own=("mvn", "--offline", "-B", "-q", "test"), ignore="target/\n"),
    Foreign(name="gradle", what="Gradle with JUnit 4", make=files(GRADLE, _jars), needs=("gradle", "java"), broken=("src/main/java/shop/Cart.java", "sum += price", "sum = price"),
            added=("src/main/java/shop/Cart.java", ADDED_JAVA), test=("src/test/java/shop/AddedTest.java", junit4(ADDED_JAVA_TEST)), guard="src/test/java/shop/CartTest.java",
            own=("gradle", "--offline", "--no-daemon", "-q", "test"), ignore="build/\n.gradle/\n"),
    Foreign(name="jest-typescript", what="jest through ts-jest, tests beside the source", make=files(JEST_TS, node_modules), needs=("npm",), broken=("src/cart.ts", "sum += price", "sum = price"),
            added=("src/cart.ts", "\nexport function devteamAdded(value: number): number {\n  return value + 1;\n}\n"), guard="src/cart.test.ts", own=("npx", "jest"),
            test=("src/added.test.ts", "import { devteamAdded } from './cart';\n\ntest('added', () => {\n  expect(devteamAdded(2)).toBe(3);\n});\n"), ignore="node_modules/\ndist/\n"),
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
CHOSEN = [
    next(project for project in EVERY if project.name == name)
    for name in (
        *("humanize", "pluggy", "cachetools", "xmltodict", "first", "itsdangerous", "inflection-unignored-venv"),
        *("submodule", "monorepo", "minimist", "tiny-invariant", "pkg-errors", "fnv", "gradle"),
    )
]
"""One of each kind, what `make test-foreign` can finish; the others with MORE=1."""
