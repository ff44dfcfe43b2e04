"""Everything that the API can do was asked for by the tests before: a route without a method is found here."""

from __future__ import annotations

import json
import re

import pytest
from conftest import ASKED, ROOT

# What an SDK has no call for, and why.
LEFT_OUT = {
    ("GET", "/healthz"): "is_ready says more",
    ("GET", "/v1/sandboxes/{name}/watches/{id}/attach"): "the stream of events tells the same, and comes back by itself",
    ("POST", "/v1/sandboxes/{name}/files/write"): "write sends the bytes as they are, of any number",
}


def test_every_route_is_used(request: pytest.FixtureRequest) -> None:
    if len(request.session.items) < 300:
        pytest.skip("only some tests are run")
    paths = json.loads((ROOT / "crates/atoll/openapi.json").read_text())["paths"]
    routes = {(method.upper(), path) for path, item in paths.items() for method in item if method in METHODS}
    missing = {route for route in routes - set(LEFT_OUT) if not any(fits(route, asked) for asked in ASKED)}
    assert not missing, f"no test asks for {sorted(missing)}"
    assert set(LEFT_OUT) <= routes


METHODS = ("get", "put", "post", "patch", "delete")


def fits(route: tuple[str, str], asked: tuple[str, str]) -> bool:
    pattern = re.sub(r"\\\{[a-z]+\\\}", "[^/]+", re.escape(route[1]))
    return route[0] == asked[0] and re.fullmatch(pattern, asked[1]) is not None
