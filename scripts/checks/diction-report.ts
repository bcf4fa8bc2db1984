import { MAX_SENTENCE_WORDS, markersIn, sentencesOf, wordsIn } from "./diction";
import { folderOf, isForPeople } from "./diction-scope";
import { settingsTextsOf, wideSettingsOf } from "./diction-settings";
import {
  commentsOf,
  paragraphsOf,
  participlesOf,
  type Passage,
  sentenceStringsOf,
  testNamesOf,
  wideCommentsOf,
} from "./diction-texts";
import type { Problem, Source } from "./source";

/** What is counted. A folder may have `limit` findings per `per` words or sentences. */
const MEASURES = {
  comments: { per: 1_000, limit: 1, unit: "words to avoid per 1,000 of comments" },
  strings: { per: 1_000, limit: 1, unit: "words to avoid per 1,000 of strings for people" },
  "test-names": { per: 1_000, limit: 1, unit: "words to avoid per 1,000 of test names" },
  documents: { per: 1_000, limit: 1, unit: "words to avoid per 1,000 of documents" },
  "long-sentences": { per: 100, limit: 5, unit: "% of long sentences" },
  "type-names": { per: 1, limit: 0, unit: "types named by a participle" },
  "wide-comments": { per: 1, limit: 0, unit: "lines of comments that are too wide" },
} as const;
type Measure = keyof typeof MEASURES;

/** Most columns of a line with a comment. The formatter breaks lines of code, but not comments. */
const MAX_COLUMNS = 100;

/**
 * One measure of one folder, or of one long document. `total` is the base of the rate: the number
 * of words or sentences. It is unused if `per` is 1.
 */
export type Count = { folder: string; measure: Measure; found: Problem[]; total: number };

/**
 * Allowed counts of folders that are above the floor, by folder and measure. Ceilings may be
 * lowered or removed, but not raised or added.
 */
export type Ceilings = Readonly<Record<string, Readonly<Partial<Record<Measure, number>>>>>;

/** A Markdown document, or a file with settings. */
export type Document = { path: string; text: string };

/** The texts that the check reads. `settings`: files that are no code and have comments. */
export type Texts = {
  sources?: readonly Source[];
  documents?: readonly Document[];
  settings?: readonly Document[];
};

/** The part of a count that comes from one file. */
type Reading = Count;

/** A document with so many words is also counted by itself. */
const LONG_DOCUMENT_WORDS = 300;

const markersOf = (passage: Passage): Problem[] =>
  markersIn(passage.text).map(({ word, offset }) => ({
    path: passage.path,
    line: passage.line + passage.text.slice(0, offset).split("\n").length - 1,
    message: `"${word}"`,
  }));

function readMarkers(measure: Measure, path: string, passages: Passage[]): Reading {
  const total = passages.reduce((sum, { text }) => sum + wordsIn(text), 0);
  return { folder: folderOf(path), measure, found: passages.flatMap(markersOf), total };
}

const readWideLines = (path: string, passages: Passage[]): Reading => ({
  ...{ folder: folderOf(path), measure: "wide-comments", total: 1 },
  found: passages.map(({ line, text }) => ({
    ...{ path, line },
    message: `comment on a line of ${text.length} columns, of at most ${MAX_COLUMNS}`,
  })),
});

function readSource(source: Source): Reading[] {
  const { path } = source;
  const participles = participlesOf(source);
  return [
    readMarkers("comments", path, commentsOf(source)),
    ...(isForPeople(path) ? [readMarkers("strings", path, sentenceStringsOf(source))] : []),
    ...(path.endsWith(".test.ts") ? [readMarkers("test-names", path, testNamesOf(source))] : []),
    {
      ...{ folder: folderOf(path), measure: "type-names", total: 1 },
      found: participles.map(({ line, text }) => ({
        ...{ path, line },
        message: `type ${text} is not named by a noun`,
      })),
    },
    readWideLines(path, wideCommentsOf(source, MAX_COLUMNS)),
  ];
}

const readSettings = ({ path, text }: Document): Reading[] => [
  readMarkers("comments", path, settingsTextsOf(path, text)),
  readWideLines(path, wideSettingsOf(path, text, MAX_COLUMNS)),
];

function readDocument({ path, text }: Document): Reading[] {
  const paragraphs = paragraphsOf(path, text);
  const sentences = paragraphs.flatMap((paragraph) =>
    sentencesOf(paragraph.text).map((sentence) => ({ ...paragraph, text: sentence })),
  );
  const found = sentences
    .map(({ line, text: sentence }) => ({ line, words: wordsIn(sentence) }))
    .filter(({ words }) => words > MAX_SENTENCE_WORDS)
    .map(({ line, words }) => ({ path, line, message: `sentence of ${words} words` }));
  const folder = folderOf(path);
  const readings: Reading[] = [
    readMarkers("documents", path, paragraphs),
    { folder, measure: "long-sentences", found, total: sentences.length },
  ];
  const isLong = (readings[0]?.total ?? 0) >= LONG_DOCUMENT_WORDS;
  return isLong ? readings.flatMap((reading) => [reading, { ...reading, folder: path }]) : readings;
}

/** Counts every measure of every folder and long document. Sorted by folder and measure. */
export function dictionCounts({ sources = [], documents = [], settings = [] }: Texts): Count[] {
  const counts = new Map<string, Count>();
  const readings = [
    ...sources.flatMap(readSource),
    ...documents.flatMap(readDocument),
    ...settings.flatMap(readSettings),
  ];
  for (const reading of readings) {
    const { folder, measure } = reading;
    const key = `${folder} ${measure}`;
    const count = counts.get(key) ?? { folder, measure, found: [], total: 0 };
    count.found.push(...reading.found);
    count.total += reading.total;
    counts.set(key, count);
  }
  return [...counts.keys()].sort().flatMap((key) => counts.get(key) ?? []);
}

/** The rate of a count, in the unit of its measure. */
export function rateOf({ measure, found, total }: Count): number {
  const { per } = MEASURES[measure];
  return per === 1 ? found.length : (found.length * per) / Math.max(total, 1);
}

export const isAtFloor = (count: Count): boolean => rateOf(count) <= MEASURES[count.measure].limit;

/** Returns for example `src/api: 3.2 words to avoid per 1,000 of comments (41 found; limit 1)`. */
export function countLine(count: Count): string {
  const { limit, unit } = MEASURES[count.measure];
  const rate = Math.round(rateOf(count) * 10) / 10;
  return `${count.folder}: ${rate} ${unit} (${count.found.length} found; limit ${limit})`;
}

const ceilingOf = (ceilings: Ceilings, { folder, measure }: Count): number =>
  ceilings[folder]?.[measure] ?? 0;

/**
 * Reports the findings of counts above floor and ceiling, and ceilings that are no longer needed.
 */
export function dictionProblems(counts: readonly Count[], ceilings: Ceilings): Problem[] {
  const exceeded = counts.filter(
    (count) => !isAtFloor(count) && count.found.length > ceilingOf(ceilings, count),
  );
  const aboveFloor = counts.filter((count) => !isAtFloor(count));
  const unusedCeilings = Object.entries(ceilings).flatMap(([folder, measures]) =>
    Object.keys(measures)
      .filter(
        (measure) =>
          !aboveFloor.some((count) => count.folder === folder && count.measure === measure),
      )
      .map((measure) => ({
        path: folder,
        line: 1,
        message: `needs no ceiling for ${measure}: run \`npm run check:diction -- --shrink\``,
      })),
  );
  return [
    ...exceeded.flatMap((count) => [
      ...count.found,
      { path: count.folder, line: 1, message: exceededLine(count, ceilingOf(ceilings, count)) },
    ]),
    ...unusedCeilings,
  ];
}

const exceededLine = (count: Count, ceiling: number) =>
  ceiling === 0 ? countLine(count) : `${countLine(count)}; its ceiling is ${ceiling}`;

/**
 * Lowers the ceilings to the present counts. Removes the ceilings of counts at the floor. Raises no
 * ceiling.
 */
export function loweredCeilings(ceilings: Ceilings, counts: readonly Count[]): Ceilings {
  const lower: Record<string, Partial<Record<Measure, number>>> = {};
  for (const count of counts) {
    const ceiling = Math.min(ceilingOf(ceilings, count), count.found.length);
    if (isAtFloor(count) || ceiling === 0) continue;
    lower[count.folder] = { ...lower[count.folder], [count.measure]: ceiling };
  }
  return lower;
}
