import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect, type ConnectionFlags } from "../../../cli/credentials/connection";
import {
  forgetKey,
  isExposed,
  readCredentials,
  storeKey,
} from "../../../cli/credentials/credentials";
import { commandAt, DEFAULT_SERVER } from "../../../cli/invocation";
import { credentialsFile } from "../../../cli/local-files";

let home = "";
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "home-"));
});
afterEach(() => rm(home, { recursive: true }));
const io = (env: Record<string, string> = {}) => ({ home, cwd: home, env });
const A = "https://a.example";
const B = "https://b.example";

describe("the service and the key of a command", () => {
  it.each<{
    name: string;
    flags?: ConnectionFlags;
    env?: Record<string, string>;
    stored?: [string, string][];
    expected: object;
  }>([
    {
      name: "are the local service and no key if nothing is set",
      expected: { server: "http://127.0.0.1:8787", origins: { server: "default", key: null } },
    },
    {
      name: "are read from the environment",
      env: { MASSGEN_EDGE_SERVER: `${A}/x`, MASSGEN_EDGE_KEY: " k\n" },
      expected: { server: A, key: "k" },
    },
    {
      name: "are the service and key that login stored last",
      stored: [
        [A, "ka"],
        [B, "kb"],
      ],
      expected: { server: B, key: "kb", origins: { server: "login", key: "login" } },
    },
    {
      name: "are read from the command line, even if others are set",
      stored: [[A, "ka"]],
      env: { MASSGEN_EDGE_SERVER: A, MASSGEN_EDGE_KEY: "ke" },
      flags: { server: B, key: "kf" },
      expected: { server: B, key: "kf" },
    },
    {
      name: "belong together: another server receives its own stored key",
      stored: [
        [A, "ka"],
        [B, "kb"],
      ],
      flags: { server: A },
      expected: { server: A, key: "ka" },
    },
    {
      name: "belong together: a server without a stored key receives no key",
      stored: [[A, "ka"]],
      flags: { server: B },
      expected: { server: B, origins: { server: "--server", key: null } },
    },
    {
      name: "are the local service and no key if the variables are blank",
      env: { MASSGEN_EDGE_KEY: " ", MASSGEN_EDGE_SERVER: "" },
      expected: { origins: { server: "default", key: null } },
    },
  ])("$name", async ({ flags = {}, env = {}, stored = [], expected }) => {
    for (const [server, key] of stored) await storeKey(server, key, io());
    const connection = await connect(flags, io(env));
    expect(connection).toMatchObject(expected);
    if (!("key" in expected)) expect(connection).not.toHaveProperty("key");
  });

  it.each<{ name: string; flags?: ConnectionFlags; env?: Record<string, string>; message: string }>(
    [
      {
        name: "a key over an unencrypted network",
        flags: { server: "http://far.example", key: "k" },
        message: "is not encrypted",
      },
      {
        name: "an invalid key",
        env: { MASSGEN_EDGE_KEY: "two words" },
        message: "value of MASSGEN_EDGE_KEY is not a key",
      },
      {
        name: "an invalid address",
        env: { MASSGEN_EDGE_SERVER: "a.example" },
        message: "MASSGEN_EDGE_SERVER is not an address",
      },
    ],
  )(
    "are refused for $name, and the key is not repeated",
    async ({ flags = {}, env = {}, message }) => {
      await expect(connect(flags, io(env))).rejects.toMatchObject({
        exitCode: 1,
        message: expect.stringContaining(message),
      });
      await expect(connect(flags, io(env))).rejects.not.toMatchObject({
        message: expect.stringContaining("two words"),
      });
    },
  );
});

describe("stored keys", () => {
  it("are stored in a file and a folder that no other user can read", async () => {
    await storeKey(A, "ka", io());
    const modes = [
      await stat(credentialsFile(io())),
      await stat(path.dirname(credentialsFile(io()))),
    ].map(({ mode }) => mode & 0o777);
    expect([modes, await isExposed(io())]).toEqual([[0o600, 0o700], false]);
  });
  it("are made private again by the next login", async () => {
    await storeKey(A, "ka", io());
    await chmod(credentialsFile(io()), 0o644);
    expect(await isExposed(io())).toBe(true);
    await storeKey(B, "kb", io());
    expect([await isExposed(io()), (await readCredentials(io())).keys]).toEqual([
      false,
      { [A]: "ka", [B]: "kb" },
    ]);
  });
  it("are deleted one by one, and the last deletion removes the file", async () => {
    await storeKey(A, "ka", io());
    await storeKey(B, "kb", io());
    expect([await forgetKey(B, io()), await forgetKey(B, io())]).toEqual([true, false]);
    expect(await readFile(credentialsFile(io()), "utf8")).not.toContain("kb");
    expect(await readCredentials(io())).toEqual({ server: null, keys: { [A]: "ka" } });
    await forgetKey(A, io());
    await expect(stat(credentialsFile(io()))).rejects.toMatchObject({ code: "ENOENT" });
  });
  it("are not read from an invalid file", async () => {
    await storeKey(A, "ka", io());
    await writeFile(credentialsFile(io()), "{");
    await expect(connect({}, io())).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("log in again"),
    });
  });
});

describe("a printed command names the service", () => {
  it.each<{
    name: string;
    flags?: ConnectionFlags;
    env?: Record<string, string>;
    login?: string;
    end: string;
  }>([
    { name: "not if it is the one on this machine", end: "" },
    { name: "not if MASSGEN_EDGE_SERVER names it", env: { MASSGEN_EDGE_SERVER: A }, end: "" },
    { name: "not if it is the one of `login`", login: A, flags: { server: A }, end: "" },
    {
      name: "if MASSGEN_EDGE_SERVER names another one",
      env: { MASSGEN_EDGE_SERVER: A },
      flags: { server: B },
      end: ` --server ${B}`,
    },
    {
      name: "if it is the one on this machine, and `login` stored another one",
      login: A,
      flags: { server: DEFAULT_SERVER },
      end: ` --server ${DEFAULT_SERVER}`,
    },
  ])("$name", async ({ flags = {}, env = {}, login, end }) => {
    if (login !== undefined) await storeKey(login, "k", io());
    const connection = await connect(flags, io(env));
    expect(commandAt(connection, "sessions")).toBe(`npm run ask -- sessions${end}`);
  });
});
