import { describe, expect, it } from "vitest";
import { fetchFile, fetcherFrom, isAddress } from "../../../cli/uploads/fetch-file";

const START = "https://files.example/a.pdf";
type Pages = Readonly<Record<string, () => Response>>;

/** A `fetch` that returns these pages, and the list of requested addresses. */
function web(pages: Pages) {
  const requested: string[] = [];
  const fetch: typeof globalThis.fetch = async (input) => {
    const address = String(input);
    requested.push(address);
    return pages[address]?.() ?? new Response("no", { status: 404 });
  };
  return { requested, fetch };
}
const redirectTo =
  (location: string, status = 302) =>
  () =>
    new Response(null, { status, headers: { location } });

describe("a file with an address", () => {
  it.each<{ name: string; pages: Pages; requests: number }>([
    {
      name: "has the bytes that the server sends",
      pages: { [START]: () => new Response("%PDF-1") },
      requests: 1,
    },
    {
      name: "has the bytes of the address to which the server redirects",
      pages: {
        [START]: redirectTo("/b.pdf", 308),
        "https://files.example/b.pdf": () => new Response("%PDF-1"),
      },
      requests: 2,
    },
  ])("$name", async ({ pages, requests }) => {
    const { requested, fetch } = web(pages);
    expect((await fetchFile(START, 100, fetcherFrom(fetch))).toString()).toBe("%PDF-1");
    expect(requested).toHaveLength(requests);
  });

  it.each<{ name: string; pages: Pages; message: string; requests?: number }>([
    { name: "does not exist", pages: {}, message: "the server responded with status 404" },
    {
      name: "is above the size limit",
      pages: { [START]: () => new Response("x".repeat(101)) },
      message: "it is larger than 100 bytes",
    },
    {
      name: "redirects to an address that does not use https",
      pages: { [START]: redirectTo("http://files.example/a.pdf") },
      message: "does not use https",
    },
    {
      name: "redirects to a file of this machine",
      pages: { [START]: redirectTo("file:///etc/passwd") },
      message: "does not use https",
    },
    {
      name: "redirects to itself",
      pages: { [START]: redirectTo(START) },
      message: "more than 5 times",
      requests: 6,
    },
  ])("is refused if it $name", async ({ pages, message, requests = 1 }) => {
    const { requested, fetch } = web(pages);
    await expect(fetchFile(START, 100, fetcherFrom(fetch))).rejects.toThrow(message);
    expect(requested).toHaveLength(requests);
  });

  it.each([
    [START, true],
    ["HTTPS://x.example/a", true],
    ["http://x.example/a", false],
    ["docs/https.pdf", false],
  ])("%s is an address that can be downloaded: %s", (name, expected) =>
    expect(isAddress(name)).toBe(expected),
  );
});
