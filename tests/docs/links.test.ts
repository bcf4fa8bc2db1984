import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { DOCUMENTS } from "./documents";

/** The anchor of a heading, as GitHub builds it. */
const slugOf = (heading: string): string =>
  heading
    .replaceAll(/[`*]|\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- _]/gu, "")
    .trim()
    .replaceAll(" ", "-");

const anchorsOf = (text: string): Set<string> =>
  new Set([
    ...[...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => slugOf(heading)),
    ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id),
  ]);

const linksOf = (text: string): string[] =>
  [...text.replaceAll(/^```.*?^```/gms, "").matchAll(/\]\(((?!https?:|mailto:)[^)\s]+)\)/g)].map(
    ([, link = ""]) => link,
  );

describe.each(DOCUMENTS)("$file", ({ file, text }) => {
  it("links only to files and headings that exist", () => {
    const broken = linksOf(text).filter((link) => {
      const [linkedFile = "", anchor] = link.split("#");
      const target = linkedFile === "" ? file : path.join(path.dirname(file), linkedFile);
      if (!existsSync(target)) return true;
      return anchor !== undefined && !anchorsOf(readFileSync(target, "utf8")).has(anchor);
    });
    expect(broken).toEqual([]);
  });
});

it("every guide, reference page and explanation is linked from another document", () => {
  const linked = new Set(
    DOCUMENTS.flatMap(({ file, text }) =>
      linksOf(text).map((link) => path.join(path.dirname(file), link.split("#")[0] ?? "")),
    ),
  );
  const pages = DOCUMENTS.filter(({ file }) => /^docs\/(guides|reference|explain)\//.test(file));
  expect(pages.length).toBeGreaterThan(25);
  expect(pages.map(({ file }) => file).filter((file) => !linked.has(file))).toEqual([]);
});
