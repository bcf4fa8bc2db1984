import { describe, expect, it } from "vitest";
import { startArguments } from "../../scripts/start-arguments";

const DEFAULTS = ["dev", "--show-interactive-dev-session=false"];
const IP = ["--ip", "127.0.0.1"];
const PORT = ["--port", "8787"];

describe("npm start", () => {
  it.each([
    { name: "has an address and a port of its own", args: [], runs: [...IP, ...PORT] },
    { name: "takes another port", args: ["--port", "9000"], runs: [...IP, "--port", "9000"] },
    { name: "takes another port written with =", args: ["--port=9000"], runs: [...IP, "--port=9000"] },
    { name: "takes another address of this machine", args: ["--ip", "127.0.0.2"], runs: [...PORT, "--ip", "127.0.0.2"] },
    { name: "takes this machine by name", args: ["--ip=localhost"], runs: [...PORT, "--ip=localhost"] },
    { name: "takes this machine in IPv6", args: ["--ip", "::1"], runs: [...PORT, "--ip", "::1"] },
    { name: "passes everything else on", args: ["--log-level", "debug"], runs: [...IP, ...PORT, "--log-level", "debug"] },
  ])("$name", ({ args, runs }) => {
    expect(startArguments(args)).toEqual([...DEFAULTS, ...runs]);
  });

  it.each([
    { name: "every address", args: ["--ip", "0.0.0.0"], says: "0.0.0.0" },
    { name: "every address, written with =", args: ["--ip=0.0.0.0"], says: "0.0.0.0" },
    { name: "every IPv6 address", args: ["--ip", "::"], says: "::" },
    { name: "wrangler's word for every address", args: ["--ip", "*"], says: "*" },
    { name: "an address of the network", args: ["--port", "9000", "--ip", "192.168.1.5"], says: "192.168.1.5" },
    { name: "a name that only begins like loopback", args: ["--ip", "127.0.0.1.example.com"], says: "example.com" },
    { name: "a second address behind a good one", args: ["--ip", "127.0.0.1", "--ip", "0.0.0.0"], says: "0.0.0.0" },
    { name: "no address at all", args: ["--ip"], says: "--ip" },
    { name: "an empty address", args: ["--ip="], says: "--ip" },
    { name: "another name for the requests", args: ["--host", "localhost"], says: "--host" },
    { name: "another name in wrangler's other words", args: ["--local-upstream=localhost"], says: "--local-upstream" },
    { name: "the same in camel case", args: ["--localUpstream", "localhost"], says: "--localUpstream" },
    { name: "a tunnel", args: ["--tunnel"], says: "--tunnel" },
    { name: "a debugger for other machines", args: ["--inspector-ip", "0.0.0.0"], says: "--inspector-ip" },
    { name: "such a debugger in camel case", args: ["--inspectorIp=0.0.0.0"], says: "--inspectorIp" },
    { name: "to run on the edge", args: ["--remote"], says: "--remote" },
    { name: "to run on the edge, in short", args: ["-r"], says: "-r" },
    { name: "a named tunnel", args: ["--tunnel", "--tunnel-name=mine"], says: "--tunnel" },
  ])("refuses $name, and says what it serves", ({ args, says }) => {
    expect(() => startArguments(args)).toThrow(says);
    expect(() => startArguments(args)).toThrow("this machine only");
  });
});
