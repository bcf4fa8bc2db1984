import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashOf, scan } from "../../../cli/contexts/scan";

let root = "";
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "scan-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function fill(files: Record<string, string | Uint8Array>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), content);
  }
}
const scanFolder = async (includes: string[] = [], subfolder = "") => {
  const { files, exclusions } = await scan(path.join(root, subfolder), includes);
  return {
    sent: files.map((file) => file.path),
    excluded: Object.fromEntries(exclusions.map((exclusion) => [exclusion.path, exclusion.reason])),
  };
};

describe("a file of a pushed folder", () => {
  it("is sent if it is plain, with its bytes unchanged and its executable mode", async () => {
    const bytes = Uint8Array.from({ length: 300 }, (_, index) => index);
    await fill({ "b/run.sh": "x", "a.bin": bytes });
    await chmod(path.join(root, "b/run.sh"), 0o755);
    expect((await scan(root, [])).files).toMatchObject([
      { path: "a.bin", hash: hashOf(bytes), size: 300, executable: false },
      { path: "b/run.sh", executable: true },
    ]);
  });

  it.each([
    ".env",
    ".env.production",
    ".env-prod",
    ".env_prod",
    ".env~",
    "prod.env",
    "deploy/local.env",
    "deploy/server.pem",
    "id_rsa",
    "home/.ssh/known_hosts",
    "id_ed25519",
    ".netrc",
    ".aws/credentials",
    "terraform.tfstate",
    ".dev.vars",
    "service-account-prod.json",
    ".cargo/credentials",
    "home/.cargo/credentials.toml",
    "home/.gem/credentials",
    "home/.config/gcloud/access_tokens.db",
    ".vault-token",
    "secrets.yml",
    "config/secrets.yaml",
    ".streamlit/secrets.toml",
    "config/secrets.json",
    "keys/AuthKey_ABC123.p8",
    "prod.tfvars.json",
    ".s3cfg",
  ])("is left out if it may hold secrets, unless --include names it: %s", async (name) => {
    await fill({ [name]: "secret", "a.txt": "x" });
    const { sent, excluded } = await scanFolder();
    expect([sent, Object.values(excluded)]).toEqual([["a.txt"], ["may hold secrets"]]);
    expect((await scanFolder([name])).sent).toContain(name);
  });

  it.each(["src/aux.js", "notes 10:30.md", "con/a.txt", "a./b.txt"])(
    "is left out if the service would refuse its name: %s",
    async (name) => {
      await fill({ [name]: "x", "a.txt": "x" });
      const { sent, excluded } = await scanFolder();
      expect([sent, Object.values(excluded)]).toEqual([
        ["a.txt"],
        ["a name that is invalid on other systems"],
      ]);
    },
  );

  it.each([
    ".env.example",
    ".env-sample",
    ".env_template",
    "example.env",
    "id_rsa.pub",
    "environment.ts",
    "monkey.txt",
    "credentials",
    "src/secrets.ts",
    ".config/app.json",
  ])("is sent if it does not hold secrets: %s", async (name) => {
    await fill({ [name]: "harmless" });
    expect((await scanFolder()).sent).toEqual([name]);
  });

  it.each([
    { file: ".npmrc", text: "//packages.example.org/:_authToken=npm_abc" },
    { file: ".yarnrc.yml", text: "npmAuthToken: abc" },
    { file: ".yarnrc.yml", text: 'npmAuthIdent: "user:password"' },
    {
      file: "pip.conf",
      text: "[global]\nindex-url = https://user:password@packages.example.org/simple",
    },
    { file: "pip.conf", text: "[global]\nindex-url = https://ghp_abc@packages.example.org/simple" },
  ])("is left out if it is $file with a token: $text", async ({ file, text }) => {
    await fill({ [file]: text });
    expect(await scanFolder()).toEqual({ sent: [], excluded: { [file]: "may hold secrets" } });
  });

  it.each([
    {
      file: ".npmrc",
      text: "save-exact=true\n@scope:registry=https://packages.example.org/@scope/",
    },
    { file: ".yarnrc.yml", text: 'npmRegistryServer: "https://packages.example.org"' },
    { file: "pip.conf", text: "[global]\nindex-url = https://packages.example.org/simple" },
  ])("is sent if it is $file without a token: $text", async ({ file, text }) => {
    await fill({ [file]: text });
    expect((await scanFolder()).sent).toEqual([file]);
  });

  it("is left out if git ignores it; the nearest .gitignore decides", async () => {
    await fill({
      ".gitignore": "*.log\n/dist/\n!keep.log\n",
      "a.log": "",
      "keep.log": "",
      "dist/x.js": "",
      "src/dist/y.js": "",
      "src/.gitignore": "!b.log\nlocal.txt\n",
      "src/b.log": "",
      "src/local.txt": "",
      "local.txt": "",
    });
    const { sent, excluded } = await scanFolder();
    expect(sent).toEqual([
      ".gitignore",
      "keep.log",
      "local.txt",
      "src/.gitignore",
      "src/b.log",
      "src/dist/y.js",
    ]);
    expect(excluded).toEqual({
      "a.log": "ignored by git",
      "dist/": "ignored by git",
      "src/local.txt": "ignored by git",
    });
  });

  it("is sent although git ignores it if --include names it", async () => {
    await fill({
      ".gitignore": "dist/\n",
      "dist/a.js": "",
      "dist/b.js": "",
      "node_modules/x/index.js": "",
    });
    expect((await scanFolder(["dist/a.js"])).sent).toEqual([".gitignore", "dist/a.js"]);
    expect((await scanFolder(["dist/"])).sent).toEqual([".gitignore", "dist/a.js", "dist/b.js"]);
  });

  const HARMLESS = ["generated/.env.example", "generated/a.ts"];
  const SECRET = ["generated/.aws/config", "generated/.env", "generated/.npmrc"];
  it.each([
    { include: "generated", sent: HARMLESS, secrets: SECRET },
    { include: "generated/", sent: HARMLESS, secrets: SECRET },
    { include: "generated/.env", sent: ["generated/.env"], secrets: ["generated/.aws/"] },
    { include: "generated/**", sent: [...SECRET, ...HARMLESS].sort(), secrets: [] },
  ])(
    "is sent despite possible secrets only if --include matches the file, not only its folder: $include",
    async ({ include, sent, secrets }) => {
      await fill({
        ".gitignore": "generated/*\n",
        ...Object.fromEntries(
          [...SECRET, ...HARMLESS].map((name) => [name, "//packages.example.org/:_authToken=abc"]),
        ),
      });
      const result = await scanFolder([include]);
      expect(result.sent).toEqual([".gitignore", ...sent]);
      expect(
        Object.keys(result.excluded).filter((name) => result.excluded[name] === "may hold secrets"),
      ).toEqual(secrets);
    },
  );

  it("is left out if a repository around the folder ignores it", async () => {
    await fill({
      ".git/config": "",
      ".gitignore": "/app/private/\n*.tmp\n",
      "app/private/x": "",
      "app/a.tmp": "",
      "app/b.txt": "",
    });
    expect((await scanFolder([], "app")).sent).toEqual(["b.txt"]);
  });

  it("is left out if info/exclude of the repository names it, unless a .gitignore includes it", async () => {
    await fill({
      ".git/info/exclude": "notes/\n*.log\n/app/only.txt\n",
      "app/.gitignore": "!kept.log\n",
      "app/notes/a.txt": "",
      "app/a.log": "",
      "app/kept.log": "",
      "app/only.txt": "",
      "app/sub/only.txt": "",
    });
    expect(await scanFolder([], "app")).toEqual({
      sent: [".gitignore", "kept.log", "sub/only.txt"],
      excluded: {
        "a.log": "ignored by git",
        "notes/": "ignored by git",
        "only.txt": "ignored by git",
      },
    });
  });

  it.each([
    {
      kind: "worktree",
      gitDir: ".repo/worktrees/side",
      gitDirFiles: { ".repo/worktrees/side/commondir": "../..\n" },
    },
    { kind: "submodule", gitDir: ".repo", gitDirFiles: {} },
  ])(
    "is left out if the git directory of a $kind, which is outside the folder, excludes it",
    async ({ gitDir, gitDirFiles }) => {
      await fill({
        ...gitDirFiles,
        ".repo/info/exclude": "*.log\n",
        "tree/.git": `gitdir: ../${gitDir}\n`,
        "tree/a.log": "",
        "tree/b.txt": "",
      });
      expect(await scanFolder([], "tree")).toEqual({
        sent: ["b.txt"],
        excluded: { "a.log": "ignored by git" },
      });
    },
  );

  it("is left out if it is in .git, even if --include names it", async () => {
    await fill({ ".git/config": "", "sub/.git/hooks/x": "", "a.txt": "" });
    expect((await scanFolder([".git/", ".git/config"])).sent).toEqual(["a.txt"]);
  });

  it("is left out if it is a link to any target", async () => {
    await fill({ "a.txt": "x", "dir/b.txt": "y" });
    await symlink("/etc/passwd", path.join(root, "out"));
    await symlink("dir", path.join(root, "into"));
    expect(await scanFolder(["out", "into/"])).toEqual({
      sent: ["a.txt", "dir/b.txt"],
      excluded: { out: "a link", into: "a link" },
    });
  });

  it("is left out if it is too large", async () => {
    await fill({ "big.bin": new Uint8Array(16_000_001), "a.txt": "x" });
    expect(await scanFolder()).toEqual({ sent: ["a.txt"], excluded: { "big.bin": "too large" } });
  });
});
