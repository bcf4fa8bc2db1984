import type { LookupAddress } from "node:dns";
import {
  createServer,
  request as plainRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import https from "node:https";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fetchFile } from "../../../cli/uploads/fetch-file";
import {
  NotPublicError,
  fetchPublic,
  publicLookup,
  type Resolver,
} from "../../../cli/uploads/public-fetcher";

const PUBLIC: LookupAddress = { address: "8.8.8.8", family: 4 };
/** A lookup that resolves every name to these addresses. */
const leadsTo =
  (...found: LookupAddress[]): Resolver =>
  (_name, _options, done) =>
    done(null, found);
const at = (address: string): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 });
const asks = (address: string, resolve = leadsTo(PUBLIC)) =>
  fetchPublic({ request: https.request, resolve })(new URL(address), AbortSignal.timeout(5_000));

describe("an address in a config is not requested", () => {
  it.each([
    { name: "without https", address: "http://files.org/a", told: "only https" },
    {
      name: "with a password",
      address: "https://me:secret@files.org/a",
      told: "a user name or a password",
    },
    {
      name: "at another port",
      address: "https://files.org:8443/a",
      told: "it names the port 8443",
    },
    {
      name: "of this machine",
      address: "https://127.0.0.1/a",
      told: "127.0.0.1 is not a public address",
    },
    {
      name: "of this machine, written as a number",
      address: "https://2130706433/a",
      told: "127.0.0.1 is not a",
    },
    {
      name: "of this machine, by its name",
      address: "https://localhost/a",
      told: "localhost is not a public address",
    },
    {
      name: "of this machine, in IPv6",
      address: "https://[::1]/a",
      told: "[::1] is not a public address",
    },
    {
      name: "of this machine, in IPv6 around IPv4",
      address: "https://[::ffff:127.0.0.1]/a",
      told: "is not a public address",
    },
    {
      name: "of a home network",
      address: "https://192.168.0.1/a",
      told: "192.168.0.1 is not a public address",
    },
    {
      name: "of a company network",
      address: "https://wiki.corp/a",
      told: "wiki.corp is not a public address",
    },
    {
      name: "of the metadata of a cloud",
      address: "https://169.254.169.254/latest",
      told: "169.254.169.254 is not a",
    },
  ])("$name", async ({ address, told }) => {
    const refused = asks(address);
    await expect(refused).rejects.toThrow(told);
    await expect(refused).rejects.toBeInstanceOf(NotPublicError);
  });

  it.each([
    "127.0.0.1",
    "10.0.0.8",
    "169.254.169.254",
    "100.64.0.1",
    "::1",
    "fd00::1",
    "fe80::1",
    "::ffff:10.0.0.8",
  ])("if its name resolves to %s, even with a public address too", async (address) => {
    for (const found of [[at(address)], [PUBLIC, at(address)]])
      await expect(asks("https://files.org/a", leadsTo(...found))).rejects.toThrow(
        `files.org leads to ${address}`,
      );
  });
});

describe("a connection uses the checked addresses", () => {
  it.each([
    { name: "all of them, if all are requested", all: true, given: [[PUBLIC]] },
    { name: "the first, if one is requested", all: false, given: ["8.8.8.8", 4] },
  ])("$name", ({ all, given }) => {
    const got: unknown[] = [];
    publicLookup(leadsTo(PUBLIC))("files.org", { all }, (error, ...rest) =>
      got.push(error, ...rest),
    );
    expect(got).toEqual([null, ...given]);
  });

  it("and fails without an address", async () => {
    await expect(asks("https://files.org/a", leadsTo())).rejects.toThrow(
      "files.org has no address",
    );
  });
});

/**
 * A real server behind every public name. Names are resolved, and then the connection goes to this
 * server without TLS.
 */
let server: Server;
let asked: IncomingMessage[] = [];
const PAGES: Record<string, (response: ServerResponse) => void> = {
  "/a.pdf": (response) => response.end("%PDF-1"),
  "/moved": (response) => response.writeHead(302, { location: "/a.pdf" }).end(),
  "/home": (response) => response.writeHead(302, { location: "https://192.168.0.1/a.pdf" }).end(),
  "/plain": (response) => response.writeHead(301, { location: "http://files.org/a.pdf" }).end(),
  "/endless": (response) => void setInterval(() => response.write("x".repeat(60)), 5).unref(),
  "/gone": (response) => response.writeHead(410).end("gone"),
};
beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request);
    PAGES[request.url ?? ""]?.(response);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
});
beforeEach(() => {
  asked = [];
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const request = (
  address: string,
  options: https.RequestOptions,
  done: (message: IncomingMessage) => void,
) => {
  const listening = server.address();
  const port = typeof listening === "object" ? listening?.port : undefined;
  const { hostname: host, pathname: page } = new URL(address);
  const { lookup: looksUp, agent: _, ...rest } = options;
  const led: typeof looksUp = (name, wanted, found) =>
    looksUp?.(name, wanted, (error) =>
      error ? found(error, []) : found(null, wanted.all ? [at("127.0.0.1")] : "127.0.0.1", 4),
    );
  return plainRequest({ ...rest, host, path: page, port, lookup: led }, done);
};
const get = fetchPublic({ request, resolve: leadsTo(PUBLIC) });

describe("a public address", () => {
  it.each(["/a.pdf", "/moved"])("is read: %s", async (page) => {
    expect((await fetchFile(`https://files.org${page}`, 100, get)).toString()).toBe("%PDF-1");
  });

  it("is sent no data of the user", async () => {
    await fetchFile("https://files.org/a.pdf", 100, get);
    const [{ headers } = { headers: {} }] = asked;
    expect(Object.keys(headers).toSorted()).toEqual([
      "accept",
      "accept-encoding",
      "connection",
      "host",
      "user-agent",
    ]);
  });

  it.each([
    {
      name: "after a redirect to a home network",
      page: "/home",
      told: "192.168.0.1 is not a public address",
    },
    { name: "after a redirect to an address without https", page: "/plain", told: "without https" },
    { name: "beyond the size limit", page: "/endless", told: "it has more than 100 bytes" },
    { name: "after an error status", page: "/gone", told: "the response is 410" },
  ])("is not read further $name", async ({ page, told }) => {
    await expect(fetchFile(`https://files.org${page}`, 100, get)).rejects.toThrow(told);
    expect(asked).toHaveLength(1);
  });
});
