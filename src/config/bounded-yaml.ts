import { Composer, type Document, type LineCounter, Parser, YAMLError, YAMLParseError } from "yaml";

/** The document, incomplete if composing stopped early, and at most `maxProblems` problems. */
type BoundedYaml = { doc: Document.Parsed | null; problems: YAMLError[] };

type Bounds = {
  lines: LineCounter;
  maxProblems: number;
  options: ConstructorParameters<typeof Composer>[0];
};

/**
 * Parses the first document of a text, like `parseDocument` of `yaml`, but stops at `maxProblems`.
 * The package creates an error object with a stack for each mistake, up to one per character. These
 * objects would take 20 times as long as the parsing itself.
 */
export function parseBounded(text: string, { lines, maxProblems, options }: Bounds): BoundedYaml {
  const composer = new Composer(options);
  const stop = stopAfter(composer, maxProblems);
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
  const stream = composer.streamInfo();
  const all = [
    ...(doc?.errors ?? []),
    ...(doc?.warnings ?? []),
    ...several,
    ...stream.errors,
    ...stream.warnings,
  ];
  return {
    doc,
    problems: all.filter((problem) => problem instanceof YAMLError).slice(0, maxProblems),
  };
}

const STOP = new Error("enough problems");

/**
 * Makes the composer throw `STOP` in place of the first error beyond `maxErrors`. The composer's
 * method `onError` is private only in its TypeScript types;
 * `tests/config/bounded-yaml.test.ts` fails if a new version of the package bypasses it.
 */
function stopAfter(composer: Composer, maxErrors: number): { count(): void } {
  let errors = 0;
  const count = (): void => {
    errors += 1;
    if (errors > maxErrors) throw STOP;
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
