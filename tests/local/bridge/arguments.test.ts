import { describe, expect, it } from "vitest";
import { readBridgeArguments, USAGE } from "../../../local/bridge/arguments";
import { UsageError } from "../../../local/command-line";

describe("the arguments of npm run bridge", () => {
  it("have defaults", () => {
    expect(readBridgeArguments(["team.yaml"], undefined)).toEqual({
      file: "team.yaml",
      host: "127.0.0.1",
      port: 8_765,
      token: null,
      urls: new Map(),
    });
  });

  it("are not read if --help is given", () => {
    expect(readBridgeArguments(["--help", "--port", "x"], undefined)).toBeNull();
  });

  it.each([
    { argv: [], message: `Name one config.\n\n${USAGE}` },
    {
      argv: ["team.yaml", "--port", "1e3"],
      message: '--port is a whole number from 1, not "1e3".',
    },
    {
      argv: ["team.yaml", "--port", "65000"],
      message: "--port is 64999 at most, not 65000: the other servers use the following ports.",
    },
  ])("$argv are refused with a reason", ({ argv, message }) => {
    expect(() => readBridgeArguments(argv, undefined)).toThrow(new UsageError(message));
  });

  it.each([
    { args: ["team.yaml", "--host", "::1"], error: null },
    { args: ["team.yaml", "--host", "0.0.0.0", "--token", "0123456789abcdef"], error: null },
    { args: ["team.yaml", "--host", "0.0.0.0"], error: /Use --token, or listen on 127\.0\.0\.1/ },
    { args: ["team.yaml", "--host", "::"], error: /Use --token, or listen on 127\.0\.0\.1/ },
    {
      args: ["team.yaml", "--host", "192.168.0.7"],
      error: /Use --token, or listen on 127\.0\.0\.1/,
    },
    {
      args: ["team.yaml", "--host", "127.0.0.1.evil.example"],
      error: /Use --token, or listen on 127\.0\.0\.1/,
    },
    { args: ["team.yaml", "--token", "short"], error: /at least 16/ },
    { args: ["team.yaml", "--port", "x"], error: /--port is a whole number from 1, not "x"/ },
    { args: ["team.yaml", "--url", "weather"], error: /NAME=https/ },
  ])("for $args the error is $error", ({ args, error }) => {
    const read = () => readBridgeArguments(args, undefined);
    if (error === null) expect(read).not.toThrow();
    else expect(read).toThrow(error);
  });

  it("refuse an unknown option", () => {
    expect(() => readBridgeArguments(["--sedes", "5"], undefined)).toThrow("'--sedes'");
  });
});
