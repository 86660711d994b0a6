"""The report in a browser: no requests, no injected scripts, and keyboard access to all marks."""

import base64
import json
import os
import re
import shutil
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from l1lsmi import L1LSMI, FeatureSelector
from l1lsmi.measures import HSIC
from l1lsmi.report import write_report
from l1lsmi.report._numbers import sig
from l1lsmi.report.page import _asset
from l1lsmi.strategies import Backward

#: Set to 1 to make a missing browser a failure.
REQUIRED = "L1LSMI_REQUIRE_BROWSER"
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDTHS = [320, 360, 1280]
#: One process writes the reports that all tests open.
pytestmark = pytest.mark.xdist_group("browser")
HOSTILE = [
    "<script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=2">',
    "</script><svg onload=window.hacked=3>",
    "שלום עולם مرحبا",
    "\U0001f9ec\U0001f469\u200d\U0001f52c " + "long name " * 20,
    "x" * 200,
    "two\nlines",
    "{{ 7 * 7 }}",
]


def missing(what):
    reason = f"{what} is not installed: set {REQUIRED}=1 to make this a failure"
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    binary = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    try:
        from selenium import webdriver
    except ImportError:
        missing("selenium")
    if binary is None or driver is None:
        missing("Chromium with its driver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in [*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    running = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield running
    running.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Reports of classes and numbers, a whole pool, a greedy path, odd names, a chosen number, nothing."""
    folder = tmp_path_factory.mktemp("reports")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 8))
    X[:, 3] = np.digitize(X[:, 0] + 0.5 * X[:, 3], [-0.5, 0.5])  # so that redundancy is not 0
    signal = X[:, 0] + X[:, 1] * X[:, 2] + X[:, 3]
    classes = np.where(signal > 1, "yes", "no")
    harmless = [f"feature {j}" for j in range(8)]
    # Of a pool of four columns, all four are features: nothing is searched, and there is no path to draw.
    weighted, pooled = (L1LSMI(4, random_state=0, n_restarts=1, pool=pool) for pool in (None, 4))
    greedy = FeatureSelector(HSIC(), Backward(), 4)
    chosen, nothing = FeatureSelector(HSIC(), Backward(), "auto"), rng.normal(size=90)
    kinds = {
        "classes": (weighted, classes, {"feature_names": harmless}),
        "regression": (weighted, signal, {"feature_names": harmless}),
        "pool": (pooled, classes, {"feature_names": harmless, "held_out": False}),
        "greedy": (greedy, classes, {"feature_names": harmless, "held_out": False}),
        "hostile": (weighted, np.char.add("<b>", classes), {"feature_names": HOSTILE, "held_out": False}),
        "chosen": (chosen, X[:, 0] + X[:, 1], {"feature_names": harmless, "held_out": False}),
        "empty": (chosen, nothing, {"feature_names": harmless, "held_out": False}),
    }
    written = {}
    for name, (selector, y, options) in kinds.items():
        target = "<img src=y onerror=window.hacked=4>" if name == "hostile" else "outcome"
        path = folder / f"{name}.html"
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="No ")  # of evidence
            selector.fit(X, y)
        written[name] = write_report(path, selector, X, y, target=target, max_rows=60, **options)
    frame = pd.DataFrame({"level": pd.Categorical(np.resize(HOSTILE, 90)), "number": signal})
    frame.loc[::7, "level"], frame.loc[::5, "number"] = np.nan, np.nan
    for name, y in (("levels", classes), ("levels of numbers", signal)):
        selector = L1LSMI(2, random_state=0, n_restarts=1).fit(frame, y)
        path = folder / f"{name}.html"
        written[name] = write_report(path, selector, frame, y, target="y", max_rows=60, held_out=False)
    return written


KINDS = [
    "classes",
    "regression",
    "pool",
    "greedy",
    "hostile",
    "chosen",
    "empty",
    "levels",
    "levels of numbers",
]
PICTURES = {"sizes", "plots", "path", "redundancy", "interactions"}
#: Reports that have not all pictures: nothing was selected, the terms of a few columns were enough, or all
#: numbers of a picture are 0.
NOT_DRAWN = {
    "pool": {"path"},
    "chosen": {"redundancy"},
    "empty": PICTURES - {"sizes"},
    "levels": {"path", "interactions", "redundancy"},
    "levels of numbers": {"path", "interactions", "redundancy"},
}


def opened(browser, path: Path, width=1280, dark=False):
    """Open a file with empty logs, and return the browser."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    browser.get("about:blank")
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(path.as_uri())
    return browser


def press(browser, *keys):
    for key in keys:
        for kind in ("keyDown", "keyUp"):
            browser.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": kind, "key": key, "code": key})


def focused(browser):
    return browser.execute_script("return document.activeElement.getAttribute('aria-label')")


def scroll_to(browser, mark):
    """Scroll to a mark, and wait for the next frame."""
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", mark)
    browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")


def mark_apart(browser, picture):
    """The last mark of a picture that is apart from all others: a tooltip is that of the nearest mark."""
    return browser.execute_script(
        "const marks = [...document.querySelectorAll(`[data-picture=${arguments[0]}] .mark`)];"
        "const centers = marks.map((mark) => mark.getBoundingClientRect())"
        ".map((r) => [(r.left + r.right) / 2, (r.top + r.bottom) / 2]);"
        "const apart = ([x, y]) => centers.filter(([u, v]) => Math.hypot(x - u, y - v) < 6).length === 1;"
        "return marks[centers.findLastIndex(apart)]",
        picture,
    )


def tip(browser):
    script = (
        "const t = document.getElementById('tip'); return t.classList.contains('shown') ? t.innerText : null"
    )
    return browser.execute_script(script)


@pytest.mark.parametrize("kind", KINDS)
def test_opens_without_messages_and_requests(browser, pages, kind):
    opened(browser, pages[kind])
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    requested = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    assert {url for url in requested if url != "data:,"} == {pages[kind].as_uri()}
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


@pytest.mark.parametrize("kind", KINDS)
def test_every_plot_is_drawn(browser, pages, kind):
    opened(browser, pages[kind])
    places = browser.execute_script(
        "return [...document.querySelectorAll('[data-picture], [data-plot]')].map((place) => "
        "[place.dataset.picture ?? 'plot', place.querySelectorAll('svg .mark').length])"
    )
    assert PICTURES - NOT_DRAWN.get(kind, set()) <= {name for name, _ in places}
    assert all(marks >= 2 for _, marks in places), places


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(browser, pages, kind, width):
    opened(browser, pages[kind], width)
    wide = "return [document.scrollingElement.scrollWidth, window.innerWidth]"
    inside, window = browser.execute_script(wide)
    assert inside <= window == width
    browser.execute_script("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    inside, window = browser.execute_script(wide)
    assert inside <= window


@pytest.mark.parametrize(("kind", "n_bars"), [("classes", 0), ("chosen", 8), ("empty", 8)])
def test_unseen_rows_have_standard_errors(browser, pages, kind, n_bars):
    opened(browser, pages[kind])
    figure = browser.find_element("css selector", "[data-picture=sizes]")
    assert len(figure.find_elements("css selector", ".spread")) == n_bars
    (selected,) = [t.text for t in figure.find_elements("css selector", "text.other")]
    output = browser.find_element("id", "size-output").text
    assert selected == f"selected: {output}" and (output == "0") == (kind == "empty")
    ticks = [t.text for t in figure.find_elements("css selector", "text")]
    assert not any(tick in ("-0", "\N{MINUS SIGN}0") for tick in ticks)
    shown = browser.find_element("id", "size-set").text
    assert ("predicted in unseen rows" in shown) == (n_bars > 0)


def test_tables_that_scroll_keep_their_names_visible(browser, pages):
    opened(browser, pages["classes"], 360)
    place = browser.find_element("css selector", "[aria-label='Features that were not selected']")
    script = (
        "const [place, by] = arguments; place.scrollLeft = by;"
        "const cell = place.querySelector('tbody th').getBoundingClientRect();"
        "return [cell.left - place.getBoundingClientRect().left, place.scrollWidth - place.clientWidth]"
    )
    (start, more), (moved, _) = (browser.execute_script(script, place, by) for by in (0, 60))
    assert more >= 60 and moved == start
    # The shadow at the edge is fixed; the gradients that hide it scroll with the table.
    attachment = browser.execute_script("return getComputedStyle(arguments[0]).backgroundAttachment", place)
    assert attachment == "local, local, scroll, scroll"
    hidden = browser.execute_script(
        "return [...arguments[0].querySelectorAll('td.wide')].filter((cell) =>"
        " cell.scrollHeight > cell.clientHeight + 1 || getComputedStyle(cell).overflow !== 'visible').length",
        place,
    )
    assert hidden == 0


def test_the_diagonal_of_a_heat_map_is_marked(browser, pages):
    opened(browser, pages["classes"])
    for picture in ("redundancy", "interactions"):
        labels = browser.execute_script(
            f"return [...document.querySelectorAll('[data-picture={picture}] .mark')]"
            ".map((mark) => mark.getAttribute('aria-label'))"
        )
        assert sum("diagonal" in label for label in labels) == 4 and len(labels) == 16
        dashes = browser.find_elements("css selector", f"[data-picture={picture}] .own")
        assert len(dashes) == 5  # and one in the legend


@pytest.mark.parametrize("kind", ["classes", "regression"])
@pytest.mark.parametrize("dark", [False, True])
def test_pairs_that_interact_are_drawn(browser, pages, kind, dark):
    opened(browser, pages[kind], 400, dark)
    picture = browser.find_element("css selector", "[data-picture=pairs] figure > svg")
    of = "coloured by class" if kind == "classes" else "coloured by value"
    label = picture.get_attribute("aria-label")
    assert "feature 1" in label and "feature 2" in label and "against outcome" in label and of in label
    paths = picture.find_elements("css selector", "path.dot")
    assert sum(path.get_attribute("d").count("M") for path in paths) == 90
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    fills = [path.value_of_css_property("fill") for path in paths]
    assert len({paper, *fills}) == 1 + len(paths) == (3 if kind == "classes" else 6)
    cell = picture.find_element("css selector", ".part[tabindex='0']")
    scroll_to(browser, cell)
    browser.execute_script("arguments[0].focus()", cell)
    assert "row" in tip(browser) and "feature 1" in tip(browser)
    outline = browser.execute_script("return getComputedStyle(document.activeElement).strokeWidth")
    assert outline == "2px"


@pytest.mark.parametrize("kind", ["levels", "levels of numbers"])
def test_hostile_levels_are_text(browser, pages, kind):
    opened(browser, pages[kind])
    assert browser.execute_script("return window.hacked ?? null") is None
    shown = browser.execute_script("return document.body.textContent")
    for name in [*HOSTILE[:3], "missing"]:
        assert name in shown


def test_hostile_names_are_text(browser, pages):
    opened(browser, pages["hostile"])
    browser.execute_script("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    assert browser.execute_script("return window.hacked ?? null") is None
    assert browser.execute_script("return document.images.length") == 0
    assert browser.execute_script("return document.scripts.length") == 2
    text = browser.execute_script("return document.body.innerText")
    for name in [*HOSTILE[:3], "{{ 7 * 7 }}", "<img src=y onerror=window.hacked=4>", "<b>yes"]:
        assert name in text


def test_the_content_security_policy_blocks_scripts_and_images(browser, pages):
    opened(browser, pages["classes"])
    browser.execute_script(
        "const script = document.createElement('script'); script.textContent = 'window.hacked = 5';"
        "const picture = new Image(); picture.src = 'http://127.0.0.1:9/x.png';"
        "document.body.append(script, picture)"
    )
    assert browser.execute_script("return window.hacked ?? null") is None
    messages = " ".join(entry["message"] for entry in browser.get_log("browser"))
    assert "script-src" in messages and "img-src" in messages


def test_plots_and_tables_format_numbers_the_same_way(browser, pages):
    opened(browser, pages["classes"])
    js = re.search(r"const sig = .*?\n};\n", _asset("base.js"), re.DOTALL)[0]
    rng = np.random.default_rng(0)
    values = [0.0, 1.0, -1.0, 999.4, 999.6, 1e-4, 9.999e-5, 1e6, 999_999.0, -123_456.0, 0.5, 12.345]
    values += (rng.normal(size=40) * 10.0 ** rng.integers(-9, 9, 40)).tolist()
    assert browser.execute_script(f"{js} return arguments[0].map(sig)", values) == [sig(v) for v in values]


def test_pointing_at_a_mark_shows_a_tooltip(browser, pages):
    from selenium.webdriver import ActionChains

    opened(browser, pages["classes"])
    assert tip(browser) is None
    for picture in ("sizes", "path", "interactions", "held_out"):
        mark = mark_apart(browser, picture)
        scroll_to(browser, mark)
        ActionChains(browser).move_to_element(mark).perform()
        text = tip(browser)
        assert text and text.splitlines()[0] in mark.get_attribute("aria-label"), picture
        inside = browser.execute_script(
            "const r = document.getElementById('tip').getBoundingClientRect();"
            "return r.left >= 0 && r.top >= 0 && r.right <= innerWidth && r.bottom <= innerHeight"
        )
        assert inside, picture


def test_the_slider_shows_the_set_of_each_size(browser, pages):
    opened(browser, pages["classes"])
    script = "return [...document.querySelectorAll('#size-set li')].map((item) => item.textContent)"
    assert len(browser.execute_script(script)) == 4
    slider = browser.find_element("id", "size")
    for keys, size in ((["Home"], 1), (["ArrowRight"], 2), (["End"], 8)):
        browser.execute_script("arguments[0].focus()", slider)
        press_on_slider(browser, *keys)
        assert len(browser.execute_script(script)) == size
        assert browser.find_element("id", "size-output").text == str(size)
        assert slider.get_attribute("aria-valuetext").startswith(f"{size} feature")
        (point,) = browser.find_elements("css selector", "[data-picture=sizes] .point.current")
        assert point.get_attribute("data-size") == str(size)
    # Features outside the selected set are marked.
    assert len(browser.find_elements("css selector", "#size-set li.extra")) == 4


def press_on_slider(browser, *keys):
    codes = {"Home": 36, "End": 35, "ArrowRight": 39}
    for key in keys:
        for kind in ("keyDown", "keyUp"):
            event = {"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
            browser.execute_cdp_cmd("Input.dispatchKeyEvent", event)


def test_a_point_of_the_curve_shows_its_set(browser, pages):
    opened(browser, pages["classes"])
    mark = browser.find_elements("css selector", "[data-picture=sizes] .mark")[1]
    scroll_to(browser, mark)
    mark.click()
    assert browser.find_element("id", "size-output").text == "2"


@pytest.mark.parametrize("picture", ["sizes", "path", "redundancy", "interactions", "held_out"])
def test_marks_are_reached_by_keyboard(browser, pages, picture):
    opened(browser, pages["classes"])
    stops = browser.find_elements("css selector", f"[data-picture={picture}] [tabindex='0']")
    assert len(stops) == 1  # one tab stop, however many marks
    browser.execute_script("arguments[0].focus()", stops[0])
    first = focused(browser)
    assert tip(browser) is not None
    reached = {first}
    for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "Home", "End"):
        press(browser, key)
        reached.add(focused(browser))
        assert tip(browser).splitlines()[0] in focused(browser)
    assert len(reached) >= 2
    press(browser, "Escape")
    assert tip(browser) is None
    assert len(browser.find_elements("css selector", f"[data-picture={picture}] [tabindex='0']")) == 1


def test_every_focusable_element_has_a_label(browser, pages):
    opened(browser, pages["classes"])
    unlabelled = browser.execute_script(
        "return [...document.querySelectorAll('svg [tabindex], button, input, [role=region]')]"
        ".filter((node) => !(node.getAttribute('aria-label') || node.textContent.trim() "
        "|| (node.labels ?? []).length)).length"
    )
    assert unlabelled == 0


@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark_theme(browser, pages, dark):
    opened(browser, pages["classes"], dark=dark)
    colour = "return getComputedStyle(document.body).backgroundColor"
    before = browser.execute_script(colour)
    assert (sum(map(int, before[4:-1].split(", "))) < 300) == dark
    button = browser.find_element("id", "theme")
    assert button.text == ("Light" if dark else "Dark")
    button.click()
    after = browser.execute_script(colour)
    assert (sum(map(int, after[4:-1].split(", "))) < 300) != dark
    button.click()
    assert browser.execute_script(colour) == before
    assert browser.get_log("browser") == []


def test_plots_are_redrawn_for_a_narrower_window(browser, pages):
    opened(browser, pages["classes"], 1280)
    box = "return document.querySelector('[data-picture=path] svg').viewBox.baseVal.width"
    before = browser.execute_script(box)
    size = {"width": 360, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    assert browser.execute_script(box) < 360 < before
    assert browser.get_log("browser") == []


def test_few_pages_are_printed_without_closed_tables(browser, pages):
    def n_pages():
        paper = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"])
        return len(re.findall(rb"/Type /Page\s", paper))

    opened(browser, pages["classes"])
    closed = n_pages()
    browser.execute_script("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    assert 2 <= closed <= 6 and closed < n_pages()


def test_a_missing_browser_is_reported(monkeypatch):
    monkeypatch.setenv(REQUIRED, "1")
    with pytest.raises(pytest.fail.Exception, match="Chromium is not installed"):
        missing("Chromium")
    monkeypatch.setenv(REQUIRED, "0")
    with pytest.raises(pytest.skip.Exception, match=REQUIRED):
        missing("Chromium")
