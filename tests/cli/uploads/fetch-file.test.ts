import { describe, expect, it } from "vitest";
import { fetchFile, fetcherFrom, isAddress } from "../../../cli/uploads/fetch-file";

const START = "https://files.example/a.pdf";
type Pages = Readonly<Record<string, () => Response>>;

/** A fetch that answers for these addresses, and the addresses that were requested. */
function web(pages: Pages) {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (input) => {
    const address = String(input);
    asked.push(address);
    return pages[address]?.() ?? new Response("no", { status: 404 });
  };
  return { asked, fetch };
}
const to =
  (location: string, status = 302) =>
  () =>
    new Response(null, { status, headers: { location } });

describe("a file with an address", () => {
  it.each<{ name: string; pages: Pages; steps: number }>([
    {
      name: "has the bytes that its server sends",
      pages: { [START]: () => new Response("%PDF-1") },
      steps: 1,
    },
    {
      name: "has the bytes of the address that it redirects to",
      pages: {
        [START]: to("/b.pdf", 308),
        "https://files.example/b.pdf": () => new Response("%PDF-1"),
      },
      steps: 2,
    },
  ])("$name", async ({ pages, steps }) => {
    const { asked, fetch } = web(pages);
    expect((await fetchFile(START, 100, fetcherFrom(fetch))).toString()).toBe("%PDF-1");
    expect(asked).toHaveLength(steps);
  });

  it.each<{ name: string; pages: Pages; told: string; asked?: number }>([
    { name: "does not exist", pages: {}, told: "the response is 404" },
    {
      name: "is above the size limit",
      pages: { [START]: () => new Response("x".repeat(101)) },
      told: "it has more than 100 bytes",
    },
    {
      name: "redirects to an address without https",
      pages: { [START]: to("http://files.example/a.pdf") },
      told: "without https",
    },
    {
      name: "redirects to this machine",
      pages: { [START]: to("file:///etc/passwd") },
      told: "without https",
    },
    {
      name: "redirects in a circle",
      pages: { [START]: to(START) },
      told: "more than 5 times",
      asked: 6,
    },
  ])("is refused if it $name", async ({ pages, told, asked: times = 1 }) => {
    const { asked, fetch } = web(pages);
    await expect(fetchFile(START, 100, fetcherFrom(fetch))).rejects.toThrow(told);
    expect(asked).toHaveLength(times);
  });

  it.each([
    [START, true],
    ["HTTPS://x.example/a", true],
    ["http://x.example/a", false],
    ["docs/https.pdf", false],
  ])("%s is an address: %s", (name, is) => expect(isAddress(name)).toBe(is));
});
