import { LONGEST_SENTENCE, markersIn, sentencesOf, wordsIn } from "./diction";
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

/** What is counted, and how much of it a folder may have. */
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

/** Columns of a line with a comment, at most. Code is broken by the formatter, comments are not. */
const COLUMNS = 100;

/**
 * One measure of one folder, or of one long document. `total`: the base of the rate, or 1 if the
 * number itself counts.
 */
export type Count = { folder: string; measure: Measure; found: Problem[]; total: number };

/** Present counts of folders that are above the floor: they may shrink, and none may be added. */
export type Ceilings = Readonly<Record<string, Readonly<Partial<Record<Measure, number>>>>>;

/** A Markdown document, or a file with settings. */
export type Document = { path: string; text: string };

/** Texts that are read. `settings`: files with comments that are no code. */
export type Texts = {
  sources?: readonly Source[];
  documents?: readonly Document[];
  settings?: readonly Document[];
};

/** `folder`: where the reading counts. */
type Reading = { folder: string; measure: Measure; found: Problem[]; total: number };

/** A document of so many words must be at the floor by itself. */
const WORDS_OF_A_DOCUMENT = 300;

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

const wideLines = (path: string, passages: Passage[]): Reading => ({
  ...{ folder: folderOf(path), measure: "wide-comments", total: 1 },
  found: passages.map(({ line, text }) => ({
    ...{ path, line },
    message: `comment on a line of ${text.length} columns, of at most ${COLUMNS}`,
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
    wideLines(path, wideCommentsOf(source, COLUMNS)),
  ];
}

const readSettings = ({ path, text }: Document): Reading[] => [
  readMarkers("comments", path, settingsTextsOf(path, text)),
  wideLines(path, wideSettingsOf(path, text, COLUMNS)),
];

function readDocument({ path, text }: Document): Reading[] {
  const paragraphs = paragraphsOf(path, text);
  const sentences = paragraphs.flatMap((paragraph) =>
    sentencesOf(paragraph.text).map((sentence) => ({ ...paragraph, text: sentence })),
  );
  const found = sentences
    .map(({ line, text: sentence }) => ({ line, words: wordsIn(sentence) }))
    .filter(({ words }) => words > LONGEST_SENTENCE)
    .map(({ line, words }) => ({ path, line, message: `sentence of ${words} words` }));
  const folder = folderOf(path);
  const readings: Reading[] = [
    readMarkers("documents", path, paragraphs),
    { folder, measure: "long-sentences", found, total: sentences.length },
  ];
  const isLong = (readings[0]?.total ?? 0) >= WORDS_OF_A_DOCUMENT;
  return isLong ? readings.flatMap((each) => [each, { ...each, folder: path }]) : readings;
}

/** Every measure of every folder and long document with texts for it, in order of their names. */
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

/** `src/api: 3.2 words to avoid per 1,000 of comments (41; at most 1)`. */
export function countLine(count: Count): string {
  const { limit, unit } = MEASURES[count.measure];
  const rate = Math.round(rateOf(count) * 10) / 10;
  return `${count.folder}: ${rate} ${unit} (${count.found.length} found; limit ${limit})`;
}

const ceilingOf = (ceilings: Ceilings, { folder, measure }: Count): number =>
  ceilings[folder]?.[measure] ?? 0;

/** Counts above floor and ceiling, each with its places, and ceilings that are needed no more. */
export function dictionProblems(counts: readonly Count[], ceilings: Ceilings): Problem[] {
  const over = counts.filter(
    (count) => !isAtFloor(count) && count.found.length > ceilingOf(ceilings, count),
  );
  const needed = counts.filter((count) => !isAtFloor(count));
  const idle = Object.entries(ceilings).flatMap(([folder, measures]) =>
    Object.keys(measures)
      .filter(
        (measure) => !needed.some((count) => count.folder === folder && count.measure === measure),
      )
      .map((measure) => ({
        path: folder,
        line: 1,
        message: `needs no ceiling for ${measure}: run \`npm run check:diction -- --shrink\``,
      })),
  );
  return [
    ...over.flatMap((count) => [
      ...count.found,
      { path: count.folder, line: 1, message: overLine(count, ceilingOf(ceilings, count)) },
    ]),
    ...idle,
  ];
}

const overLine = (count: Count, ceiling: number) =>
  ceiling === 0 ? countLine(count) : `${countLine(count)}; its ceiling is ${ceiling}`;

/** The ceilings lowered to the present counts; those at the floor are left out. None rises. */
export function shrunk(ceilings: Ceilings, counts: readonly Count[]): Ceilings {
  const lower: Record<string, Partial<Record<Measure, number>>> = {};
  for (const count of counts) {
    const ceiling = Math.min(ceilingOf(ceilings, count), count.found.length);
    if (isAtFloor(count) || ceiling === 0) continue;
    lower[count.folder] = { ...lower[count.folder], [count.measure]: ceiling };
  }
  return lower;
}
