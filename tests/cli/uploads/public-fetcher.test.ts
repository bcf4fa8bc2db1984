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
/** A resolver that resolves every host name to these IP addresses. */
const resolvesTo =
  (...addresses: LookupAddress[]): Resolver =>
  (_name, _options, done) =>
    done(null, addresses);
const ip = (address: string): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 });
const fetchUrl = (url: string, resolve = resolvesTo(PUBLIC)) =>
  fetchPublic({ request: https.request, resolve })(new URL(url), AbortSignal.timeout(5_000));

describe("a URL in a config is not requested", () => {
  it.each([
    { name: "if it does not use https", url: "http://files.org/a", message: "only https" },
    {
      name: "if it contains a password",
      url: "https://me:secret@files.org/a",
      message: "a user name or a password",
    },
    {
      name: "if it contains a port",
      url: "https://files.org:8443/a",
      message: "it contains port 8443",
    },
    {
      name: "if its host is a loopback address",
      url: "https://127.0.0.1/a",
      message: "127.0.0.1 is not a public address",
    },
    {
      name: "if its host is a loopback address written as a number",
      url: "https://2130706433/a",
      message: "127.0.0.1 is not a",
    },
    {
      name: "if its host is localhost",
      url: "https://localhost/a",
      message: "localhost is not a public address",
    },
    {
      name: "if its host is the IPv6 loopback address",
      url: "https://[::1]/a",
      message: "[::1] is not a public address",
    },
    {
      name: "if its host is a loopback address mapped to IPv6",
      url: "https://[::ffff:127.0.0.1]/a",
      message: "is not a public address",
    },
    {
      name: "if its host is an address of a private network",
      url: "https://192.168.0.1/a",
      message: "192.168.0.1 is not a public address",
    },
    {
      name: "if its host is a name in a company network",
      url: "https://wiki.corp/a",
      message: "wiki.corp is not a public address",
    },
    {
      name: "if its host is a cloud metadata service",
      url: "https://169.254.169.254/latest",
      message: "169.254.169.254 is not a",
    },
  ])("$name", async ({ url, message }) => {
    const response = fetchUrl(url);
    await expect(response).rejects.toThrow(message);
    await expect(response).rejects.toBeInstanceOf(NotPublicError);
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
  ])("if its host resolves to %s, alone or with a public address", async (address) => {
    for (const addresses of [[ip(address)], [PUBLIC, ip(address)]])
      await expect(fetchUrl("https://files.org/a", resolvesTo(...addresses))).rejects.toThrow(
        `files.org resolves to ${address}`,
      );
  });
});

describe("the DNS lookup of a connection", () => {
  it.each([
    { name: "all checked addresses if `all` is set", all: true, expected: [[PUBLIC]] },
    { name: "the first checked address otherwise", all: false, expected: ["8.8.8.8", 4] },
  ])("returns $name", ({ all, expected }) => {
    const results: unknown[] = [];
    publicLookup(resolvesTo(PUBLIC))("files.org", { all }, (error, ...rest) =>
      results.push(error, ...rest),
    );
    expect(results).toEqual([null, ...expected]);
  });

  it("fails if the host has no address", async () => {
    await expect(fetchUrl("https://files.org/a", resolvesTo())).rejects.toThrow(
      "files.org has no address",
    );
  });
});

/**
 * A real server that receives all requests of `request`. That function looks up the host name, but
 * then connects to this server, without TLS.
 */
let server: Server;
let received: IncomingMessage[] = [];
const PAGES: Record<string, (response: ServerResponse) => void> = {
  "/a.pdf": (response) => response.end("%PDF-1"),
  "/moved": (response) => response.writeHead(302, { location: "/a.pdf" }).end(),
  "/private": (response) =>
    response.writeHead(302, { location: "https://192.168.0.1/a.pdf" }).end(),
  "/plain": (response) => response.writeHead(301, { location: "http://files.org/a.pdf" }).end(),
  "/endless": (response) => void setInterval(() => response.write("x".repeat(60)), 5).unref(),
  "/gone": (response) => response.writeHead(410).end("gone"),
};
beforeAll(async () => {
  server = createServer((request, response) => {
    received.push(request);
    PAGES[request.url ?? ""]?.(response);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
});
beforeEach(() => {
  received = [];
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const request = (
  url: string,
  options: https.RequestOptions,
  done: (message: IncomingMessage) => void,
) => {
  const serverAddress = server.address();
  const port = typeof serverAddress === "object" ? serverAddress?.port : undefined;
  const { hostname: host, pathname: page } = new URL(url);
  const { lookup, agent: _, ...rest } = options;
  const lookupServer: typeof lookup = (name, lookupOptions, callback) =>
    lookup?.(name, lookupOptions, (error) => {
      if (error) callback(error, []);
      else if (lookupOptions.all) callback(null, [ip("127.0.0.1")]);
      else callback(null, "127.0.0.1", 4);
    });
  return plainRequest({ ...rest, host, path: page, port, lookup: lookupServer }, done);
};
const get = fetchPublic({ request, resolve: resolvesTo(PUBLIC) });

describe("a file at a public URL", () => {
  it.each(["/a.pdf", "/moved"])("is downloaded: %s", async (page) => {
    expect((await fetchFile(`https://files.org${page}`, 100, get)).toString()).toBe("%PDF-1");
  });

  it("is requested without data of the user", async () => {
    await fetchFile("https://files.org/a.pdf", 100, get);
    const [{ headers } = { headers: {} }] = received;
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
      name: "it redirects to a private network",
      page: "/private",
      message: "192.168.0.1 is not a public address",
    },
    { name: "it redirects to http", page: "/plain", message: "does not use https" },
    { name: "it exceeds the size limit", page: "/endless", message: "it is larger than 100 bytes" },
    {
      name: "the server responds with an error",
      page: "/gone",
      message: "responded with status 410",
    },
  ])("is not downloaded if $name", async ({ page, message }) => {
    await expect(fetchFile(`https://files.org${page}`, 100, get)).rejects.toThrow(message);
    expect(received).toHaveLength(1);
  });
});
