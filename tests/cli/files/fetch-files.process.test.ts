import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { worksOnFiles } from "../../../simulated/providers/coding";
import { runningService } from "../../e2e/support/running-service";
import { perform } from "../../../cli/conversation/slash-commands";
import { ioWithoutUser, runAt } from "../commands/terminal";

/** A run writes files, and its user fetches them with the command line, at the service itself. */
const stack = runningService({
  builder: worksOnFiles({
    last: [
      ["write_file", { path: "site/index.html", content: "<p>Hello</p>\n" }],
      [
        "run_command",
        { command: "printf 'a\\0b' > data.bin && echo $RANDOM$RANDOM$RANDOM > turn.txt" },
      ],
    ],
    answer: "A page.",
    final: { text: "Open /workspace/site/index.html, not /workspace/missing." },
  }),
});

let folder = "";
let home = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "fetch-"));
  home = path.join(folder, "home");
  await mkdir(home);
  const backend = `{type: chatcompletion, model: builder, base_url: "${stack.providers.baseUrl}", api_key: simulated, enable_mcp_command_line: true}`;
  await writeFile(
    path.join(folder, "team.yaml"),
    `agents:\n  - id: ann\n    backend: ${backend}\n`,
  );
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const cli = (...args: string[]) =>
  runAt({ cwd: folder, home }, ...args, "--server", stack.service.url);
/** The same at a terminal of a user who presses no key. */
const atTerminal = (...args: string[]) =>
  runAt({ cwd: folder, home, keys: [] }, ...args, "--server", stack.service.url);
const onDisk = (file: string) => readFile(path.join(folder, file), "latin1");
const turnOf = async (...args: string[]) => JSON.parse((await cli(...args, "--json")).stdout);

describe("files of a run", () => {
  it("are named at its end with the command that saves them, and this command works", async () => {
    const run = await atTerminal("--config", "team.yaml", "Build a page.");
    expect(run.screen).toContain(
      `files   3: data.bin, site/index.html, turn.txt · npm run ask -- files last --save out --server ${stack.service.url}\n`,
    );
    const saved = await cli("files", "last", "--save", "out");
    expect(saved.stdout).toBe("write\tdata.bin\nwrite\tsite/index.html\nwrite\tturn.txt\n");
    expect([await onDisk("out/site/index.html"), await onDisk("out/data.bin")]).toEqual([
      "<p>Hello</p>\n",
      "a\0b",
    ]);
  });

  it("are written live, by name", async () => {
    const attached = await cli("attach", "last", "--verbose");
    expect(attached.screen).toContain("ann writes site/index.html\n");
    expect(attached.screen).toContain("ann writes data.bin and 1 other\n");
    expect(attached.screen).not.toContain("uses write_file");
  });

  it("have addresses in the answer at a terminal, and the stored text has none", async () => {
    const { session_id: session } = await turnOf("show", "last");
    const address = `${stack.service.url}/api/sessions/${session}/turns/1/files/site/index.html?inline=1`;
    const text = "Open /workspace/site/index.html, not /workspace/missing.";
    const shown = await atTerminal("show", "last");
    expect(shown.stdout).toContain(`Open ${address}, not /workspace/missing.\n`);
    const response = await fetch(address);
    expect([response.headers.get("content-type"), await response.text()]).toEqual([
      "text/plain; charset=utf-8",
      "<p>Hello</p>\n",
    ]);
    expect((await cli("show", "last")).stdout).toContain(text);
    expect((await turnOf("show", "last")).answer).toBe(text);
    expect((await cli("attach", "last")).stdout).toBe(`${text}\n`);
  });

  it("are listed with sizes, and each can be printed", async () => {
    const list = await cli("files", "last", "1");
    expect(list.stdout).toMatch(/^3\tdata\.bin\n13\tsite\/index\.html\n\d+\tturn\.txt\n$/);
    expect((await cli("files", "cat", "last", "site/index.html")).stdout).toBe("<p>Hello</p>\n");
    expect((await cli("files", "cat", "last", "/workspace/site/index.html")).stdout).toBe(
      "<p>Hello</p>\n",
    );
    expect((await cli("files", "cat", "last", "data.bin")).stdout).toBe("a\0b");
    await expect(atTerminal("files", "cat", "last", "data.bin")).rejects.toThrow(
      "data.bin is no text: application/octet-stream, 3 B.",
    );
    await expect(cli("files", "cat", "last", "nope")).rejects.toThrow(
      "Its files: data.bin, site/index.html, turn.txt.",
    );
  });
});

describe("the next question", () => {
  it("continues the last session, and the saved folder gets only what changed", async () => {
    await cli("--continue", "Make it better.");
    expect(await turnOf("show", "last")).toMatchObject({ turn: 2, parent_turn: 1 });
    await writeFile(path.join(folder, "out/site/index.html"), "mine");
    const saved = await cli("files", "last", "--save", "out");
    expect(saved.stdout).toBe("write\tturn.txt\n");
    expect(await onDisk("out/site/index.html")).toBe("mine");
  });

  it("follows another turn with --from, in a session that its beginning names", async () => {
    const { session_id: session } = await turnOf("show", "last");
    await cli("--session", session.slice(0, 24), "--from", "1", "Try another way.");
    expect(await turnOf("show", "last")).toMatchObject({ turn: 3, parent_turn: 1 });
    await cli("--from", "2", "Which way is better?");
    expect(await turnOf("show", "last")).toMatchObject({ turn: 4, parent_turn: 2 });
  });

  it("may ask another team, with some of its agents, and the next question asks all of it", async () => {
    const yaml = await readFile(path.join(folder, "team.yaml"), "utf8");
    const [head = "", ann = ""] = yaml.split("  - ");
    const two = `${head}  - ${ann}  - ${ann.replace("id: ann", "id: ben")}`;
    await writeFile(path.join(folder, "two.yaml"), two);
    const options = ["--config", "two.yaml", "--agents", "ben"];
    await cli("--continue", ...options, "Which way is better?");
    const agentsOf = ({ agents }: { agents: { agent: string }[] }) =>
      agents.map(({ agent }) => agent);
    const turn = await turnOf("show", "last");
    expect([agentsOf(turn), turn.overrides, turn.label]).toEqual([
      ["ben"],
      { agents: ["ben"] },
      "agent2.final",
    ]);
    expect((await cli("show", "last")).stdout).toContain("team     only ben\n");
    expect((await cli("turns", "last")).stdout).toMatch(/^\* .* 5 .* \[ben=builder\] Which way/m);
    await cli("--continue", "And now?");
    expect(agentsOf(await turnOf("show", "last"))).toEqual(["ann", "ben"]);
  });

  it("may only summarise, and `last` then means the turn before it", async () => {
    const shown = async () => [
      (await cli("show", "last", "--json")).stdout,
      (await cli("files", "last", "--json")).stdout,
      (await cli("attach", "last", "--json")).stdout,
    ];
    const before = await shown();
    const summarised = JSON.parse((await cli("compact", "last", "--json")).stdout);
    expect(summarised).toMatchObject({ turn: 7, status: "completed" });
    expect(await shown()).toEqual(before);
  });

  it("needs a session", async () => {
    await expect(
      runAt({ cwd: folder, home: folder }, "--continue", "x", "--server", stack.service.url),
    ).rejects.toThrow("knows no last session");
  });
});

describe("a conversation", () => {
  it("continues the last session", async () => {
    const user = { cwd: folder, home, keys: [["/quit leaves.", "/quit\n"]] } as const;
    const talk = await runAt(user, "--continue", "--server", stack.service.url);
    expect(talk.code).toBe(0);
    expect(talk.screen).toContain("after turn 6: And now?\n");
    expect(talk.screen).toContain(
      `To continue: npm run ask -- --continue --server ${stack.service.url}\n`,
    );
  });

  it("lists, prints and saves files of the latest turn", async () => {
    const { session_id: session } = await turnOf("show", "last");
    const printed: Record<"stdout" | "stderr", string[]> = { stdout: [], stderr: [] };
    const io = {
      ...ioWithoutUser(folder),
      stdout: { write: (text: string | Uint8Array) => printed.stdout.push(text.toString()) },
      stderr: { write: (text: string | Uint8Array) => printed.stderr.push(text.toString()) },
    };
    const team = { request: {}, source: { name: "team", text: null }, description: "team" };
    const conversation = {
      team,
      connection: { server: stack.service.url },
      limits: {},
      output: { form: "answer", file: null, verbose: false } as const,
      session,
      from: null,
      latest: null,
      attachments: [],
      requested: [],
      folders: [],
      winner: null,
      refused: null,
      waiting: [],
      typed: null,
      aside: null,
    };
    await perform({ name: "files", argument: "" }, conversation, io);
    await perform({ name: "save", argument: "talk" }, conversation, io);
    expect(printed.stdout.join("")).toMatch(
      /^3\tdata\.bin\n13\tsite\/index\.html\n\d+\tturn\.txt\nwrite\tdata/,
    );
    expect(printed.stderr.join("")).toContain("3 written, in talk.\n");
    expect(await onDisk("talk/site/index.html")).toBe("<p>Hello</p>\n");
    await expect(perform({ name: "cat", argument: "nope" }, conversation, io)).rejects.toThrow(
      "There is no file nope",
    );
  });
});

it("an erased session is no longer the last one", async () => {
  await cli("delete", "last", "--yes");
  await expect(cli("show", "last")).rejects.toThrow("knows no last session");
});
