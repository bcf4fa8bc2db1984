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
    { name: "has a default address, port and data folder", args: [], takes: {} },
    { name: "accepts another port", args: ["--port", "9000"], takes: { port: 9000 } },
    { name: "accepts another port written with =", args: ["--port=9000"], takes: { port: 9000 } },
    {
      name: "accepts another address of this machine",
      args: ["--ip", "127.0.0.2"],
      takes: { ip: "127.0.0.2" },
    },
    { name: "accepts this machine by name", args: ["--ip=localhost"], takes: { ip: "localhost" } },
    { name: "accepts this machine in IPv6", args: ["--ip", "::1"], takes: { ip: "::1" } },
    {
      name: "accepts files of variables",
      args: ["--env-file", "a", "--env-file=b"],
      takes: { envFiles: ["a", "b"] },
    },
    {
      name: "accepts a folder for its data",
      args: ["--persist-to", "data"],
      takes: { persistTo: "data" },
    },
    { name: "explains itself", args: ["--help"], takes: { help: true } },
  ])("$name", ({ args, takes }) => {
    expect(startOptions(args)).toEqual({ ...DEFAULTS, ...takes });
  });

  it.each([
    { name: "every address", args: ["--ip", "0.0.0.0"], says: "0.0.0.0" },
    { name: "every address, written with =", args: ["--ip=0.0.0.0"], says: "0.0.0.0" },
    { name: "every IPv6 address", args: ["--ip", "::"], says: "--ip ::" },
    { name: "the wildcard for every address", args: ["--ip", "*"], says: "--ip *" },
    {
      name: "an address of the network",
      args: ["--port", "9000", "--ip", "192.168.1.5"],
      says: "192.168.1.5",
    },
    {
      name: "a name that only starts like loopback",
      args: ["--ip", "127.0.0.1.example.com"],
      says: "example.com",
    },
    {
      name: "a second address after a valid one",
      args: ["--ip", "127.0.0.1", "--ip", "0.0.0.0"],
      says: "0.0.0.0",
    },
    {
      name: "a valid address after another",
      args: ["--ip", "0.0.0.0", "--ip", "127.0.0.1"],
      says: "0.0.0.0",
    },
  ])("refuses $name, with the addresses that it serves", ({ args, says }) => {
    expect(() => startOptions(args)).toThrow(says);
    expect(() => startOptions(args)).toThrow("this machine only");
  });

  it.each([
    { name: "no address at all", args: ["--ip"], says: "--ip needs a value" },
    { name: "an empty address", args: ["--ip="], says: "--ip needs a value" },
    { name: "no port", args: ["--port", "http"], says: "--port http is not a port" },
    { name: "port 0", args: ["--port", "0"], says: "--port 0 is not a port" },
    {
      name: "a port above the maximum",
      args: ["--port", "65536"],
      says: "--port 65536 is not a port",
    },
    {
      name: "an inspector",
      args: ["--inspector-port", "9229"],
      says: "no argument --inspector-port",
    },
    {
      name: "an inspector for other machines",
      args: ["--inspectorIp=0.0.0.0"],
      says: "no argument --inspectorIp",
    },
    {
      name: "another name for the requests",
      args: ["--host", "localhost"],
      says: "no argument --host",
    },
    { name: "a tunnel", args: ["--tunnel"], says: "no argument --tunnel" },
    { name: "to run on the edge", args: ["--remote"], says: "no argument --remote" },
    { name: "to run on the edge, in short", args: ["-r"], says: "no argument -r" },
    { name: "variables on the command line", args: ["--var", "A:b"], says: "no argument --var" },
    { name: "a word", args: ["dev"], says: "no argument dev" },
    {
      name: "a name of Object.prototype",
      args: ["--constructor"],
      says: "no argument --constructor",
    },
  ])("refuses $name by name (H3)", ({ args, says }) => {
    expect(() => startOptions(args)).toThrow(says);
  });
});
