"""axial attention: the command, the chat's /attention, and the page in a browser."""
import array
import json
import math
import os
import struct
import tempfile
import unittest
import xml.etree.ElementTree

from browser import Browser, chromium
from command import axial, oracle

TEXT = "The cat sat on the mat, since the mat was warm."
BUSY = "document.getElementById('overview').getAttribute('aria-busy') !== 'false'"
CONTRAST = """(() => {
  const parse = (c) => { const n = c.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const light = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
    if (c[3] > 0.99) return c; } return [255, 255, 255, 1]; };
  const bad = [];
  for (const e of document.querySelectorAll("body *")) {
    if (!Array.from(e.childNodes).some((n) => n.nodeType === 3 && n.data.trim()) || e.closest("svg,script,noscript,[hidden]")) continue;
    if (e.closest("dialog") && !e.closest("dialog").open) continue;
    const a = light(parse(getComputedStyle(e).color)), b = light(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push([e.className || e.tagName, e.textContent.slice(0, 20), ratio]);
  }
  return bad; })()"""


def npy(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<H", data[8:10])[0]
    header = data[10:10 + size].decode()
    shape = eval(header[header.index("(", header.index("shape")):header.index(")", header.index("shape")) + 1])
    kind = "d" if "<f8" in header else "f"
    return shape, array.array(kind, data[10 + size:])


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page = os.path.join(folder.name, "page.html")

    def test_writes_a_page(self):
        run = axial("attention", "-p", TEXT, "-o", self.page)
        self.assertEqual((run.code, run.out), (0, b""))
        self.assertIn(self.page, run.err)
        with open(self.page, encoding="utf-8") as file:
            page = file.read()
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        again = axial("attention", "-p", TEXT, "-o", "-", "-q")
        self.assertEqual((again.code, again.text, again.err), (0, page, ""))
        self.assertEqual(axial("attention", "-o", "-", "-q", stdin=TEXT.encode()).text, page)
        ids = axial("tokenize", "-p", TEXT).text
        self.assertEqual(axial("attention", "--ids", ids, "-o", "-", "-q").text, page)

    def test_chosen_layers(self):
        run = axial("attention", "-p", TEXT, "-o", "-", "--layers", "2,0-1")
        self.assertIn('"layers":[0,1,2]', run.text)
        for layers, code, text in (("9-1", 2, "9-1"), ("x", 2, '"x" is no layer'), ("999", 1, "there is no layer 999")):
            run = axial("attention", "-p", TEXT, "-o", self.page, "--layers", layers)
            self.assertEqual(run.code, code, run.err)
            self.assertIn(text, run.err)

    def test_what_cannot_be(self):
        for arguments, code, text in (
                (["-p", TEXT], 2, "-o FILE.html"), (["-p", "", "-o", self.page], 2, "is empty"),
                (["-p", TEXT, "--ids", "1", "-o", self.page], 2, "give one of them"),
                (["-p", "a b c d e f g h " * 1000, "-o", self.page], 1, "take a shorter text or fewer layers"),
                (["-p", TEXT, "-o", "/nowhere/page.html"], 1, "/nowhere/page.html")):
            run = axial("attention", *arguments)
            self.assertEqual(run.code, code, run.err)
            self.assertIn(text, run.err)
            self.assertFalse(os.path.exists(self.page))

    def test_chat(self):
        lines = "/attention " + self.page + "\nHi!\n/attention " + self.page + " 0-1\n/attention\n/attention " + \
                self.page + " 99\n/exit\n"
        from command import Terminal
        chat = Terminal("chat", "--temp", "0", "-n", "5")
        for line, answer in zip(lines.splitlines(), ("nothing has been said yet", "Generation:", "2 layers of",
                                                     "needs a value", "there is no layer 99", "")):
            chat.send(line + "\n")
            if answer:
                chat.expect(answer)
        with open(self.page, encoding="utf-8") as file:
            page = file.read()
        self.assertIn('"layers":[0,1]', page)
        self.assertIn("Hi", page)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        chromium()
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.page = os.path.join(cls.folder.name, "page.html")
        run = axial("attention", "-p", TEXT, "-o", cls.page)
        assert run.code == 0, run.err
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.resize(1280, 900)
        self.browser.prefer("light")
        self.open(self.page)

    def tearDown(self):
        self.assertEqual(self.browser.messages, [])
        addresses = {request.split(":")[0] for request in self.browser.requests}
        self.assertLessEqual(addresses, {"file", "data", "blob", "about"})
        self.browser.messages.clear()

    def open(self, path):
        self.browser.open("file://" + path)
        self.drawn()

    def drawn(self):
        self.browser.wait("!(" + BUSY + ")")

    def state(self, name):
        return self.browser.evaluate("state." + name)

    def focus_by_tab(self, element, shift=False):
        for _ in range(60):
            self.browser.key("Tab", shift)
            if self.browser.evaluate("document.activeElement.id === %s || document.activeElement.className === %s"
                                     % (json.dumps(element), json.dumps(element))):
                outline = self.browser.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                self.assertEqual(outline, "solid", element + " does not show that it has the focus")
                return
        self.fail("Tab never comes to " + element)

    def test_numbers_are_the_reference(self):
        with open(oracle("models", "ref", "sequences.json")) as file:
            sequences = json.load(file)
        ids = sequences["sequences"][sequences["trace_sequence"]]
        layer = sequences["trace_layer"]
        for model in ("tiny-qwen3-F32", "tiny-qwen2-F32", "tiny-llama-F32"):
            page = os.path.join(self.folder.name, model + ".html")
            run = axial("attention", "-m", oracle("models", model + ".gguf"), "--ids", str(ids), "-o", page,
                        "-ctk", "f32", "-ctv", "f32", "--activations", "float32")
            self.assertEqual(run.code, 0, run.err)
            self.open(page)
            (heads, queries, keys), want = npy(oracle("models", "ref", "trace", model, "attn_probs.npy"))
            self.assertEqual(self.browser.evaluate("[page.heads, tokenCount]"), [heads, len(ids)])
            got = self.browser.evaluate("Array.from({length: page.heads}, (_, h) => { const m = headMap(%d, h); return "
                                        "page.tokens.map((_, i) => [m.entropy(i), m.entropy(i, true), ...page.tokens.map((_, j) => "
                                        "[m.p(i, j), m.p(i, j, true)])]); })" % layer)
            for head in range(heads):
                for query in range(queries):
                    row = want[(head * queries + query) * keys:(head * queries + query + 1) * keys]
                    entropy, hidden, *numbers = got[head][query]
                    self.assertAlmostEqual(entropy, -sum(p * math.log2(p) for p in row if p > 0), delta=0.0005)
                    rest = sum(row[1:])
                    if query > 0:
                        shares = [p / rest for p in row[1:] if p > 0]
                        self.assertAlmostEqual(hidden, -sum(p * math.log2(p) for p in shares), delta=0.002)
                    for key, (p, share) in enumerate(numbers):
                        self.assertAlmostEqual(p, row[key], delta=0.00051)
                        self.assertAlmostEqual(share, row[key] / rest if key and query else 0, delta=0.00052)

    def test_pointer(self):
        b = self.browser
        count = b.evaluate("tokenCount")
        self.assertGreater(count, 8)
        self.assertEqual(self.state("token"), count - 1)
        b.hover("#token-5")
        self.assertEqual((self.state("pointed"), self.state("token")), (5, count - 1))
        says = b.evaluate("byId('token-says').textContent")
        self.assertIn("(token 5) looks at these most", says)
        places = b.evaluate("Array.from(document.querySelectorAll('#ranking tbody tr'), (r) => [Number(r.cells[1].textContent), r.cells[2].textContent])")
        best = b.evaluate("[0,1,2,3,4,5].sort((i, j) => current().p(5, j) - current().p(5, i) || i - j)")
        self.assertEqual([place for place, _ in places], best[:len(places)])
        self.assertEqual(places[0][1], b.evaluate("percent(current().p(5, %d))" % best[0]))
        b.move(5, 5)
        self.assertIsNone(self.state("pointed"))
        b.click("#token-3")
        self.assertEqual(self.state("token"), 3)
        b.hover("#map svg")  # the middle of it
        cell = self.state("cell")
        self.assertIsNotNone(cell)
        self.assertIn("(%d)" % cell[0], b.evaluate("byId('map-says').textContent"))
        self.assertFalse(b.evaluate("byId('tip').hidden"))
        b.click("#overview [data-layer='1'][data-head='2']")
        self.assertEqual((self.state("layer"), self.state("head")), (1, 2))
        self.assertEqual(b.evaluate("byId('map-title').textContent"), "Layer 1, head 2")
        b.click("#layer-on")
        b.click("#head-back")
        self.assertEqual((self.state("layer"), self.state("head")), (2, 1))

    def test_keys_alone(self):
        b = self.browser
        last = b.evaluate("tokenCount") - 1
        self.focus_by_tab("tokens")
        b.key("ArrowLeft")
        self.assertEqual(self.state("token"), last - 1)
        b.key("Home")
        self.assertEqual(self.state("token"), 0)
        b.key("ArrowLeft")
        self.assertEqual(self.state("token"), 0)
        b.key("End")
        self.assertEqual(self.state("token"), last)
        self.assertEqual(b.evaluate("byId('tokens').getAttribute('aria-activedescendant')"), "token-%d" % last)
        self.focus_by_tab("map")
        b.key("ArrowUp")
        b.key("ArrowUp")
        b.key("ArrowLeft")
        self.assertEqual(self.state("cell"), [last - 1, last - 1])
        self.focus_by_tab("head")
        b.key("ArrowRight")
        b.key("ArrowDown")
        self.assertEqual((self.state("layer"), self.state("head")), (1, 1))
        self.assertTrue(b.evaluate("document.activeElement === overview[1][1].element"))
        for key, name, value in (("l", "layer", 2), ("L", "layer", 1), ("h", "head", 2), ("H", "head", 1),
                                 ("f", "hideFirst", True), ("w", "backwards", True), ("e", "showEntropy", True),
                                 ("t", "theme", "dark")):
            b.key(key, key.isupper())
            self.assertEqual(self.state(name), value)
        self.drawn()
        b.key("?", True)
        self.assertTrue(b.evaluate("byId('help').open"))
        b.key("Escape")
        self.assertFalse(b.evaluate("byId('help').open"))
        b.evaluate("byId('letters').checked = false")
        b.key("f")
        self.assertTrue(self.state("hideFirst"))

    def test_first_token_hidden(self):
        b = self.browser
        b.click("#token-6")
        before = b.evaluate("page.tokens.map((_, j) => current().p(6, j))")
        b.click("#hide-first")
        self.drawn()
        after = b.evaluate("page.tokens.map((_, j) => current().p(6, j, state.hideFirst))")
        self.assertEqual(after[0], 0)
        self.assertAlmostEqual(sum(after), 1, delta=0.005)
        for j in range(1, 7):
            self.assertAlmostEqual(after[j], before[j] / (1 - before[0]), delta=1e-9)
        self.assertEqual(b.evaluate("byId('token-0').querySelector('.number').textContent"), "")

    def test_who_looks(self):
        b = self.browser
        b.click("#token-2")
        b.click("#backwards")
        self.assertIn("gets attention from", b.evaluate("byId('token-says').textContent"))
        places = b.evaluate("Array.from(document.querySelectorAll('#ranking tbody tr'), (r) => Number(r.cells[1].textContent))")
        best = b.evaluate("page.tokens.map((_, i) => i).sort((i, j) => current().p(j, 2) - current().p(i, 2) || i - j)")
        self.assertEqual(places, best[:len(places)])

    def test_entropy(self):
        b = self.browser
        b.click("#entropy-button")
        self.assertIn("−Σ p · log₂ p", b.evaluate("byId('entropy-note').innerText"))
        b.click("#show-entropy")
        self.drawn()
        shown = b.evaluate("overview[1][1].value.textContent")
        self.assertEqual(shown, b.evaluate("headMap(1, 1).meanEntropy().toFixed(1)"))

    def test_light_and_dark(self):
        b = self.browser
        self.assertEqual(b.evaluate(CONTRAST), [])
        b.prefer("dark")
        self.open(self.page)
        self.assertEqual(self.state("theme"), "dark")
        dark = b.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        self.assertEqual(b.evaluate(CONTRAST), [])
        b.key("e")
        self.drawn()
        self.assertEqual(b.evaluate(CONTRAST), [])
        b.key("?", True)
        self.assertEqual(b.evaluate(CONTRAST), [])
        b.key("Escape")
        b.click("#theme")
        self.drawn()
        self.assertNotEqual(b.evaluate("getComputedStyle(document.documentElement).backgroundColor"), dark)
        self.assertEqual(b.evaluate(CONTRAST), [])

    def test_everything_has_a_name(self):
        tree = self.browser.send("Accessibility.getFullAXTree")["nodes"]
        roles = set()
        for node in tree:
            role = node.get("role", {}).get("value")
            properties = {p["name"]: p["value"].get("value") for p in node.get("properties", [])}
            if node.get("ignored") or role in ("RootWebArea", "dialog"):
                continue
            roles.add(role)
            if properties.get("focusable"):
                self.assertTrue(node.get("name", {}).get("value"), node)
        self.assertLessEqual({"listbox", "option", "grid", "gridcell", "columnheader", "rowheader", "image", "combobox",
                              "checkbox", "button", "heading", "table", "main"}, roles)

    def test_save_png(self):
        b = self.browser
        b.click("#png")
        data = b.downloaded("attention-layer0-head0.png")
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", data[16:24])
        self.assertEqual(width, 1800)
        self.assertGreater(height, 1000)
        colours = b.evaluate("""(async () => { const made = mapFigure({map: current(), hideFirst: false, theme: "light", width: 900});
            const image = await createImageBitmap(await asPng(made)), canvas = new OffscreenCanvas(image.width, image.height);
            const to = canvas.getContext("2d"); to.drawImage(image, 0, 0);
            const dot = (i, j) => Array.from(to.getImageData(2 * (made.left + (j + 0.5) * made.cell), 2 * (made.top + (i + 0.5) * made.cell), 1, 1).data.slice(0, 3));
            return [0, 1, 2, 3, 4].flatMap((i) => [0, 1, 2, 3, 4].map((j) => [dot(i, j), j > i ? [255, 255, 255] : shade(current().p(i, j), "light")])); })()""")
        for got, want in colours:
            for x, y in zip(got, want):
                self.assertAlmostEqual(x, y, delta=2)

    def test_save_svg(self):
        b = self.browser
        b.key("l")
        b.key("s")
        data = b.downloaded("attention-layer1-head0.svg")
        root = xml.etree.ElementTree.fromstring(data)
        count = b.evaluate("tokenCount")
        name = "{http://www.w3.org/2000/svg}"
        self.assertEqual(root.tag, name + "svg")
        titles = [e.text for e in root.iter(name + "title")]
        self.assertEqual(len(titles), count * (count + 1) // 2)
        self.assertIn(b.evaluate("tokenLabel(4) + ' → ' + tokenLabel(2) + ': ' + percent(current().p(4, 2))"), titles)
        self.assertIn("layer 1, head 0", "".join(e.text or "" for e in root.iter(name + "text")))

    def test_on_a_phone(self):
        b = self.browser
        b.resize(360, 740, phone=True)
        self.open(self.page)
        self.assertEqual(b.evaluate("document.documentElement.scrollWidth"), 360)
        b.tap("#token-4")
        b.wait("state.token === 4")
        self.assertIn("(token 4)", b.evaluate("byId('token-says').textContent"))
        b.tap("#overview [data-layer='1'][data-head='1']")
        b.wait("state.layer === 1")
        self.assertEqual(b.evaluate("document.documentElement.scrollWidth"), 360)
        self.assertEqual(b.evaluate("Array.from(document.querySelectorAll('button, select, .token, .head'))"
                                    ".filter((e) => e.offsetWidth > 0 && (e.offsetHeight < 24 || e.offsetWidth < 18)).length"), 0)

    def test_hostile_text(self):
        text = ("</script><script>document.title = 'broken'</script><img src=x onerror=\"document.title='broken'\"> "
                "&lt;b&gt; \"quotes\" 'and' `more` \\ \0 \x1b[31m \x7f \u202eright to left\u202c \u0301accent \U0001f468\u200d\U0001f469\u200d\U0001f467 "
                "\U0001f9ff שלום \u2028 \ufeff end")
        path = os.path.join(self.folder.name, "hostile.html")
        run = axial("attention", "-o", path, stdin=text.encode())
        self.assertEqual(run.code, 0, run.err)
        self.open(path)
        b = self.browser
        self.assertEqual(b.evaluate("document.title"), "Attention")
        self.assertEqual(b.evaluate("document.querySelectorAll('img, script').length"), 2)
        shown = b.evaluate("byId('tokens').innerText.replace(/\\n/g, '')")
        for part in ("</", "script", "␀", "␛", "␡", "U+202E", "U+202C", "U+2028", "U+FEFF", "◌\u0301", "\U0001f468 F0", "9F"):
            self.assertIn(part, shown)
        self.assertNotRegex(shown, '[\\u202a-\\u202e\\u2066-\\u2069]')
        joined = b.evaluate("page.tokens.map((t) => typeof t.text === 'string' ? t.text : t.text.map((p) => "
                            "typeof p === 'string' ? p : p[0] + (p[1] ? '' : '?')).join('')).join('')")
        for word in ("onerror", "quotes", "right to left"):
            self.assertIn(word, joined)
        b.key("s")
        xml.etree.ElementTree.fromstring(b.downloaded("attention-layer0-head0.svg"))

    def test_one_token(self):
        path = os.path.join(self.folder.name, "one.html")
        self.assertEqual(axial("attention", "--ids", "5", "-o", path).code, 0)
        self.open(path)
        self.browser.key("f")
        self.drawn()
        self.assertIn("looks at nothing else", self.browser.evaluate("byId('token-says').textContent"))


if __name__ == "__main__":
    unittest.main()
