import { Composer, type Document, type LineCounter, Parser, YAMLError, YAMLParseError } from "yaml";

/** The document as far as it was composed, and at most `mostProblems` problems. */
type BoundedYaml = { doc: Document.Parsed | null; problems: YAMLError[] };

type Bounds = {
  lines: LineCounter;
  mostProblems: number;
  options: ConstructorParameters<typeof Composer>[0];
};

/**
 * The first document of a text, like `parseDocument` of `yaml`, but stops at `mostProblems`. The
 * package creates an error object with a stack for each mistake, up to one per character, which
 * takes 20 times as long as the rest.
 */
export function parseBounded(text: string, { lines, mostProblems, options }: Bounds): BoundedYaml {
  const composer = new Composer(options);
  const stop = stopAfter(composer, mostProblems);
  const docs: Document.Parsed[] = [];
  try {
    for (const token of new Parser(lines.addNewLine).parse(text)) {
      if (token.type === "error") stop.count();
      for (const doc of composer.next(token)) docs.push(doc);
      if (docs.length > 1) break;
    }
    for (const doc of composer.end(true, text.length)) docs.push(doc);
  } catch (error) {
    if (error !== STOP) throw error;
  }
  const [doc = null, second] = docs;
  const several = second
    ? [new YAMLParseError([second.range[0], second.range[1]], "MULTIPLE_DOCS", "Several documents")]
    : [];
  const left = composer.streamInfo();
  const found = [
    ...(doc?.errors ?? []),
    ...(doc?.warnings ?? []),
    ...several,
    ...left.errors,
    ...left.warnings,
  ];
  return {
    doc,
    problems: found.filter((problem) => problem instanceof YAMLError).slice(0, mostProblems),
  };
}

const STOP = new Error("enough problems");

/**
 * Makes the composer throw `STOP` in place of one more error. The method is private in its types
 * only; `tests/config/bounded-yaml.test.ts` fails if a new version bypasses it.
 */
function stopAfter(composer: Composer, most: number): { count(): void } {
  let found = 0;
  const count = (): void => {
    if (++found > most) throw STOP;
  };
  const report: unknown = Reflect.get(composer, "onError");
  if (typeof report !== "function")
    throw new Error("The composer of yaml has no onError any more.");
  Reflect.set(composer, "onError", (...problem: unknown[]) => {
    count();
    Reflect.apply(report, composer, problem);
  });
  return { count };
}
