import { describe, expect, it } from "vitest";
import { FILES } from "../../../durable-objects/shared/object-limits";
import { justBashRunner, runCommandTool } from "../../../src/tools/shell";
import { agentFiles, readAsText, runTool, type World } from "../files/agent-tree";

const tool = runCommandTool(justBashRunner(Date.now));
const WORLD: World = {
  workspace: { "a.txt": "one\ntwo\n", "src/b.ts": "const two = 2;\n" },
  peers: { agent2: { "a.txt": "one\nthree\n" } },
  contexts: { site: { "index.html": "<p>\n" }, book: { "ch1.md": "# One\n", locked: "no\n" } },
  writable: ["book"],
};
const shell = async (command: string, otherArgs = {}, world = WORLD) => {
  const files = await agentFiles(world);
  return { ...(await runTool(tool, { command, ...otherArgs }, files)), files };
};

describe("run_command", () => {
  it.each([
    { name: "starts in the workspace", command: "pwd; ls", text: "/workspace\na.txt\nsrc" },
    {
      name: "starts in the requested directory",
      command: "pwd",
      directory: "src",
      text: "/workspace/src",
    },
    {
      name: "supports pipes and loops",
      command: "for f in $(find . -type f | sort); do wc -l < $f; done | paste -s -d+ -",
      text: "2+1",
    },
    {
      name: "searches peers' files",
      command: "grep -rn th /peers",
      text: "/peers/agent2/a.txt:2:three",
    },
    {
      name: "compares files with those of a peer",
      command: "diff a.txt /peers/agent2/a.txt | grep '^[-+]t'",
      text: "-two\n+three",
    },
    {
      name: "has all directories of the agent and a scratch directory",
      command: "ls /",
      text: "contexts\npeers\ntmp\nworkspace",
    },
    { name: "reports the exit code", command: "false", text: "[exit code 1]" },
    { name: "reports missing output", command: "true", text: "[no output]" },
    {
      name: "shows stderr",
      command: "cat nope",
      text: "[stderr]\ncat: nope: No such file or directory\n[exit code 1]",
    },
    {
      name: "has a scratch directory",
      command: "echo x > /tmp/x; cat /tmp/x",
      text: "x",
    },
    {
      name: "supports executable files",
      command: "echo 'echo hi $1' > s.sh; chmod +x s.sh; ./s.sh you",
      text: "hi you",
    },
    {
      name: "supports /dev/null",
      command: "echo x > /dev/null; cat /dev/null | wc -c",
      text: "0",
    },
    {
      name: "supports process substitution",
      command: "comm -12 <(sort a.txt) <(sort /peers/agent2/a.txt)",
      text: "one",
    },
    {
      name: "treats here-documents literally",
      command: "cat <<'E'\n  $x\n\ty\nE",
      text: "  $x\n\ty",
    },
    {
      name: "escapes control characters",
      command: "printf '\\033[31mred\\n'",
      text: "\\x1b[31mred",
    },
    {
      name: "does not change texts of other languages",
      command: "echo 'héllo 漢 😀' | cat | rev | rev",
      text: "héllo 漢 😀",
    },
  ])("$name", async ({ command, directory, text }) => {
    expect(await shell(command, { directory })).toMatchObject({ outcome: "ok", text });
  });

  it.each([
    {
      name: "python3",
      command: "python3 -c 'print(1)'",
      expectedText: "python3: not available in this shell. Use awk, jq or bash.",
    },
    {
      name: "git",
      command: "git status",
      expectedText: "git: not available in this shell. Compare with diff",
    },
    {
      name: "curl",
      command: "curl https://example.com",
      expectedText: "curl: not available in this shell. There is no network.",
    },
    {
      name: "tar",
      command: "tar cf a.tar a.txt",
      expectedText: "tar: not available in this shell. Copy directories with cp -r",
    },
    {
      name: "realpath",
      command: "realpath a.txt",
      expectedText: "realpath: not available in this shell. Use readlink -f.",
    },
    {
      name: "trap",
      command: "trap 'rm -f x' EXIT",
      expectedText: "trap: not available in this shell. Clean up at the end",
    },
    {
      name: "an unknown program",
      command: "frobnicate",
      expectedText: "frobnicate: command not found",
    },
  ])("reports that a command is missing: $name", async ({ command, expectedText }) => {
    const { text } = await shell(command);
    expect(text).toContain(expectedText);
    expect(text).toContain("[exit code 127]");
  });

  it.each([
    {
      name: "a write into a peer's files",
      command: "echo x > /peers/agent2/a.txt",
      expectedText: "another's snapshot and cannot be changed",
    },
    {
      name: "a write into a read-only context",
      command: "sed -i s/p/b/ /contexts/site/index.html",
      expectedText: "given for reading only",
    },
    {
      name: "a write to a protected path",
      command: "echo x > /contexts/book/locked",
      expectedText: "is protected",
    },
    {
      name: "a removal of an unread file",
      command: "rm a.txt",
      expectedText: "You have not read /workspace/a.txt",
    },
    {
      name: "a write outside of the agent's directories",
      command: "echo x > /etc/passwd",
      expectedText: "/etc/passwd cannot be written. Write below /workspace",
    },
    {
      name: "a name that disks do not support",
      command: "echo x > 'a:b'",
      expectedText: "contains a colon",
    },
    {
      name: "a symbolic link",
      command: "ln -s a.txt b.txt",
      expectedText: "There are no links here. Copy with cp.",
    },
    {
      name: "a hard link",
      command: "ln a.txt b.txt",
      expectedText: "There are no links here. Copy with cp.",
    },
    {
      name: "a read of another agent's workspace",
      command: "cat /workspace/../agent3/x",
      expectedText: "No such file or directory",
    },
  ])("refuses $name with a reason", async ({ command, expectedText }) => {
    const { text, files } = await shell(command);
    expect(text).toContain(expectedText);
    expect(files.staged()).toMatchObject({ workspace: new Map(), contexts: new Map() });
  });

  it("ends a script at a refused redirection of exec, and stores the changes before it", async () => {
    const { text, files } = await shell(
      "echo kept > kept; exec > /peers/agent2/a.txt; echo not > after",
    );
    expect(text).toContain(
      "EACCES: permission denied, open '/peers/agent2/a.txt'. The script ended there, without its output.",
    );
    expect([files.exists("kept"), files.exists("after")]).toEqual([true, false]);
  });

  it("changes the agent's files", async () => {
    const { files } = await shell(
      "mkdir -p out/deep; cp -r src out/src; sed -i s/two/deux/ a.txt; cat a.txt >> out/deep/log; mv src/b.ts c.ts; echo x >> /contexts/book/ch1.md; touch empty; chmod +x c.ts",
    );
    expect(await readAsText(files, "a.txt")).toBe("one\ndeux\n");
    expect(await readAsText(files, "out/src/b.ts")).toBe("const two = 2;\n");
    expect(await readAsText(files, "out/deep/log")).toBe("one\ndeux\n");
    expect(await readAsText(files, "/contexts/book/ch1.md")).toBe("# One\nx\n");
    expect(files.stat("c.ts")).toMatchObject({ executable: true });
    expect(files.stat("empty").size).toBe(0);
    expect(files.exists("src/b.ts")).toBe(false);
  });

  it("removes only files that it has read", async () => {
    const { files, text } = await shell("cat a.txt > /dev/null && rm a.txt && rm -rf src");
    expect(files.exists("a.txt")).toBe(false);
    expect(text).toContain("You have not read /workspace/src/b.ts");
    expect(files.exists("src/b.ts")).toBe(true);
  });

  it.each([
    "cp bin copy",
    "cat bin > copy",
    "cat bin | cat > copy",
    "cp bin /tmp/x; mv /tmp/x copy",
    "base64 bin | base64 -d > copy",
    "gzip -c bin | gunzip > copy",
    "head -c 100000 bin > copy",
    "tee copy < bin > /dev/null",
    "chmod +x bin; cp bin copy",
    ": > copy; cat bin >> copy",
    "mkdir d; cp bin d; mv d e; cp e/bin copy",
  ])("does not change the bytes of a binary file: %s", async (command) => {
    const bin = crypto.getRandomValues(new Uint8Array(30_000));
    bin.set([0, 255, 254, 13, 10, 0xef, 0xbb, 0xbf]);
    const { files, text } = await shell(command, {}, { workspace: { bin } });
    expect(text).toBe("[no output]");
    expect(Buffer.compare(await files.read("copy"), bin)).toBe(0);
  });

  it.each([
    { name: "an empty command", args: { command: "" } },
    { name: "an unknown argument", args: { command: "ls", shell: "zsh" } },
    { name: "a timeout above the maximum", args: { command: "ls", timeout_seconds: 11 } },
    { name: "a missing directory", args: { command: "ls", directory: "nope" } },
    { name: "a file as its directory", args: { command: "ls", directory: "a.txt" } },
    {
      name: "a directory outside of the agent's files",
      args: { command: "ls", directory: "/etc" },
    },
  ])("refuses $name", async ({ args }) => {
    expect(await runTool(tool, args, await agentFiles(WORLD))).toMatchObject({ outcome: "error" });
  });

  it("does not start after an abort", async () => {
    const reason = new Error("cancelled");
    await expect(
      runTool(tool, { command: "ls" }, await agentFiles(WORLD), {
        signal: AbortSignal.abort(reason),
      }),
    ).rejects.toBe(reason);
  });

  it("ends between two commands after an abort", async () => {
    const controller = new AbortController();
    const running = runTool(
      tool,
      { command: "while true; do ls / > /dev/null; done" },
      await agentFiles({}),
      {
        signal: controller.signal,
      },
    );
    setTimeout(() => controller.abort(new Error("cancelled")), 100);
    await expect(running).rejects.toThrow("cancelled"); // a normal end would be a result
  });

  it("cuts an output above the limit and adds a note", async () => {
    const small = runCommandTool(justBashRunner(Date.now), {
      mostSeconds: 10,
      defaultSeconds: 10,
      outputBytes: 100,
    });
    const { text } = await runTool(small, { command: "seq 1 1000" }, await agentFiles({}));
    expect(text).toMatch(
      /^1\n2\n[\s\S]+\[The output is cut after 100 of 3892 bytes\. Write it to a file with >/,
    );
  });

  const MIB = 1024 * 1024;
  it.each([
    {
      name: "writes one large file after another",
      command: `awk 'BEGIN{s="x";while(length(s)<100000)s=s s;for(i=0;i<900;i++)print s i > ("f" i)}'`,
    },
    {
      name: "writes the same file again and again",
      command: `awk 'BEGIN{s="x";while(length(s)<100000)s=s s;for(i=0;i<900;i++){print s i > "f";close("f")}}'`,
    },
  ])("stops a command that $name before the memory is exhausted", async ({ command }) => {
    const files = await agentFiles({}, FILES);
    const { outcome, text } = await runTool(tool, { command }, files);
    expect(text).toContain("[The command was stopped: it wrote more than");
    expect(outcome).toBe("error");
    const staged = [...files.staged().blobs.values()].reduce(
      (sum, { byteLength }) => sum + byteLength,
      0,
    );
    expect(staged).toBeLessThanOrEqual(32 * MIB);
  });

  it.each([
    { command: "echo 'quota exceeded' >&2; exit 126", code: 126 },
    { command: "echo 'deploy: too many requests' >&2; exit 126", code: 126 },
    {
      command: "echo 'bash: f: too many iterations (10000)' >&2; echo 'so I left it' >&2; exit 126",
      code: 126,
    },
    { command: "echo 'the execution deadline is near' >&2; exit 124", code: 124 },
    { command: "timeout 0.1 sleep 5", code: 124 },
  ])(
    "stores the changes of a command that only looks as if it was stopped: $command",
    async ({ command, code }) => {
      const files = await agentFiles({});
      const { outcome, text } = await runTool(tool, { command: `echo x > f; ${command}` }, files);
      expect({ outcome, text }).toEqual({
        outcome: "ok",
        text: expect.stringContaining(`[exit code ${code}]`),
      });
      expect(await readAsText(files, "f")).toBe("x\n");
    },
  );

  it("allows a command to write many megabytes", async () => {
    const files = await agentFiles(
      { workspace: { piece: new Uint8Array(200_000).fill(97) } },
      FILES,
    );
    const { text } = await runTool(
      tool,
      { command: "for i in {1..60}; do cat piece; done > f; stat -c %s f" },
      files,
    );
    expect(text).toBe("12000000");
  });

  it("refuses a comparison that would take minutes", async () => {
    const { text } = await shell(
      "seq 1 9000 > x; seq 9000 -1 1 > y; diff x y | wc -l; cat x | diff - y",
      {},
      {},
    );
    expect(text).toContain("diff: the files differ in more than 1000 lines");
  });

  it.each([
    "diff -- -x y",
    "diff -u -- y -x",
    "diff -- - y < ./-x",
    "diff -- y - < ./-x",
    "diff ./-x -i y",
    "diff y ./-x more",
  ])("refuses such a comparison for each form of the file names: %s", async (command) => {
    const { text } = await shell(
      `seq 1 1500 > ./-x; seq 1500 -1 1 > y; touch more; ${command}`,
      {},
      {},
    );
    expect(text).toContain("diff: the files differ in more than 1000 lines");
  });

  it("compares files whose names begin with a dash", async () => {
    const { text } = await shell(
      "echo a > ./-x; echo b > y; diff -- -x y; diff -s -- -x ./-x; diff -- -x nope; diff -- -x",
      {},
      {},
    );
    expect(text).toMatch(/-a\n\+b\nFiles -x and \.\/-x are identical\n\[stderr\]\n/);
    expect(text).toContain("diff: nope: No such file or directory\ndiff: missing operand");
  });

  it("reports the same time and owner for all files", async () => {
    const first = await shell("stat -c '%U %Y' a.txt /peers/agent2/a.txt | sort -u | wc -l");
    expect(first.text).toBe("1");
  });
});
