import { afterAll, beforeAll, describe } from "vitest";
import { type Call, run } from "./contract-support";
import { cutsContract } from "./cuts-contract";
import { abortContract, openEndContract, timeContract } from "./endings-contract";
import { headersContract, namedUrlsContract } from "./headers-contract";
import { historyContract } from "./history-contract";
import { memoryContract } from "./memory-contract";
import { hostedContract } from "./hosted-contract";
import { brokenContract, echoesContract, errorsContract, waitsContract } from "./failures-contract";
import { type RawServer, startRawServer } from "../../simulated/raw-server";
import {
  repliesContract,
  requestsContract,
  stopReasonsContract,
  streamsContract,
} from "./replies-contract";
import type { Wire } from "./wire";

/**
 * The contract between every adapter and its callers, tested over real sockets. This suite tests
 * what all formats have in common; `tests/providers/<format>/` tests the properties of one format.
 */
export function describeProviderContract(wire: Wire): void {
  describe(`${wire.name} keeps the provider contract`, () => {
    const server = useServer();
    const call: Call = (script, change) => run(wire, server(), script, change);
    describe("replies", () => {
      repliesContract(wire, call);
      stopReasonsContract(wire, call);
    });
    describe("streams", () => streamsContract(wire, server, call));
    describe("memory", () => memoryContract(wire));
    describe("requests", () => requestsContract(wire, call));
    describe("history", () => historyContract(wire, call));
    if (wire.hostedTools.length > 0) describe("hosted tools", () => hostedContract(wire, call));
    describe("errors", () => errorsContract(wire, call));
    describe("echoed keys", () => echoesContract(wire, call));
    describe("unusual headers", () => {
      headersContract(wire, call);
      namedUrlsContract(wire);
    });
    describe("rate limits", () => waitsContract(call));
    describe("broken streams", () => brokenContract(wire, call));
    if (wire.framesOf === undefined) describe("incomplete streams", () => cutsContract(wire, call));
    if (wire.framesOf === undefined)
      describe("open connections", () => openEndContract(wire, server));
    describe("aborts", () => abortContract(wire, server));
    describe("time limits", () => timeContract(wire, server));
  });
}

function useServer(): () => RawServer {
  let server: RawServer | undefined;
  beforeAll(async () => {
    server = await startRawServer();
  });
  afterAll(() => server?.close());
  return () => {
    if (!server) throw new Error("the server runs during tests only");
    return server;
  };
}
