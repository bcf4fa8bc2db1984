import { describe, expect, it } from "vitest";
import { startOptions } from "../../local/start-arguments";

const DEFAULTS = {
  help: false,
  ip: "127.0.0.1",
  port: 8787,
  envFiles: [],
  persistTo: ".wrangler/state",
};

describe("npm start", () => {
  it.each([
    { name: "has a default address, port and data folder", args: [], expected: {} },
    { name: "accepts another port", args: ["--port", "9000"], expected: { port: 9000 } },
    {
      name: "accepts another port written with =",
      args: ["--port=9000"],
      expected: { port: 9000 },
    },
    {
      name: "accepts another address of this machine",
      args: ["--ip", "127.0.0.2"],
      expected: { ip: "127.0.0.2" },
    },
    {
      name: "accepts this machine by name",
      args: ["--ip=localhost"],
      expected: { ip: "localhost" },
    },
    { name: "accepts this machine in IPv6", args: ["--ip", "::1"], expected: { ip: "::1" } },
    {
      name: "accepts files of variables",
      args: ["--env-file", "a", "--env-file=b"],
      expected: { envFiles: ["a", "b"] },
    },
    {
      name: "accepts a folder for its data",
      args: ["--persist-to", "data"],
      expected: { persistTo: "data" },
    },
    { name: "prints its help", args: ["--help"], expected: { help: true } },
  ])("$name", ({ args, expected }) => {
    expect(startOptions(args)).toEqual({ ...DEFAULTS, ...expected });
  });

  it.each([
    { name: "every address", args: ["--ip", "0.0.0.0"], message: "0.0.0.0" },
    { name: "every address, written with =", args: ["--ip=0.0.0.0"], message: "0.0.0.0" },
    { name: "every IPv6 address", args: ["--ip", "::"], message: "--ip ::" },
    { name: "the wildcard for every address", args: ["--ip", "*"], message: "--ip *" },
    {
      name: "an address of the network",
      args: ["--port", "9000", "--ip", "192.168.1.5"],
      message: "192.168.1.5",
    },
    {
      name: "a name that only starts like loopback",
      args: ["--ip", "127.0.0.1.example.com"],
      message: "example.com",
    },
    {
      name: "a second address after a valid one",
      args: ["--ip", "127.0.0.1", "--ip", "0.0.0.0"],
      message: "0.0.0.0",
    },
    {
      name: "a valid address after another address",
      args: ["--ip", "0.0.0.0", "--ip", "127.0.0.1"],
      message: "0.0.0.0",
    },
  ])("refuses $name, and names the addresses that it serves", ({ args, message }) => {
    expect(() => startOptions(args)).toThrow(message);
    expect(() => startOptions(args)).toThrow("this machine only");
  });

  it.each([
    { name: "no address at all", args: ["--ip"], message: "--ip needs a value" },
    { name: "an empty address", args: ["--ip="], message: "--ip needs a value" },
    { name: "no port", args: ["--port", "http"], message: "--port http is not a port" },
    { name: "port 0", args: ["--port", "0"], message: "--port 0 is not a port" },
    {
      name: "a port above the maximum",
      args: ["--port", "65536"],
      message: "--port 65536 is not a port",
    },
    {
      name: "an inspector",
      args: ["--inspector-port", "9229"],
      message: "no argument --inspector-port",
    },
    {
      name: "an inspector for other machines",
      args: ["--inspectorIp=0.0.0.0"],
      message: "no argument --inspectorIp",
    },
    {
      name: "another host name",
      args: ["--host", "localhost"],
      message: "no argument --host",
    },
    { name: "a tunnel", args: ["--tunnel"], message: "no argument --tunnel" },
    { name: "a run on the edge", args: ["--remote"], message: "no argument --remote" },
    { name: "a run on the edge, by the short option", args: ["-r"], message: "no argument -r" },
    { name: "variables on the command line", args: ["--var", "A:b"], message: "no argument --var" },
    { name: "a word", args: ["dev"], message: "no argument dev" },
    {
      name: "a name of Object.prototype",
      args: ["--constructor"],
      message: "no argument --constructor",
    },
  ])("refuses $name, and names the option (H3)", ({ args, message }) => {
    expect(() => startOptions(args)).toThrow(message);
  });
});
