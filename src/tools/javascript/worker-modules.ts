/** Modules of one call's worker, by name: the code, and the code that runs it. */
type WorkerModules = { main: string; modules: Readonly<Record<string, string>> };

/**
 * `text` calls its guard as `guard`. It starts on the first line of its module, so that line
 * numbers in errors are its own.
 */
export const workerModules = ({ text, guard }: { text: string; guard: string }): WorkerModules => ({
  main: "main.js",
  modules: {
    "main.js": MAIN,
    "guard.js": GUARD,
    "output.js": OUTPUT,
    "code.js": `import { step as ${guard} } from "guard.js"; export default async () => {${text}\n};`,
  },
});

/**
 * Counts steps. After stopping the code it throws at every further step, so that a catch does not
 * help. Checks the clock now and then: on the edge it does not advance while code computes, but
 * elsewhere only this check ends a loop in time.
 */
export const GUARD = `
const clock = Date.now;
const Stop = Error;
let left = 0, until = 0, why = null;

export function arm(steps, timeoutMs) {
  left = steps;
  until = clock() + timeoutMs;
}
export const stoppedBy = () => why;
export function step() {
  if (why !== null || (--left & 63) === 0) check();
}
function check() {
  if (why === null && left <= 0) why = "steps";
  if (why === null && clock() > until) why = "time";
  if (why !== null) throw new Stop("The code was stopped.");
}
`;

/** Converts values to text: JSON where possible, plus values that JSON omits or refuses. */
export const OUTPUT = `
const { stringify } = JSON;
const listOf = Array.from, textOf = String, isView = ArrayBuffer.isView;
const AnError = Error, AMap = Map, ASet = Set, AView = DataView;

function inWords(value) {
  if (typeof value === "bigint") return value + "n";
  if (typeof value === "symbol") return textOf(value);
  if (typeof value === "function") return "[function " + value.name + "]";
  if (typeof value === "number") return value - value === 0 ? value : textOf(value);
  if (value instanceof AnError) return textOf(value);
  if (value instanceof AMap || value instanceof ASet) return listOf(value);
  if (isView(value) && !(value instanceof AView)) return listOf(value);
  return value;
}

export function toText(value) {
  try {
    const plain = inWords(value);
    if (typeof plain !== "object" || plain === null) return textOf(plain);
    return textOf(stringify(plain, (_, part) => inWords(part)));
  } catch (error) {
    return "[cannot be shown: " + (error instanceof AnError ? error.message : typeof error) + "]";
  }
}

/** At most so many characters of a text. */
export const cut = (text, chars) => ({ text: text.slice(0, chars), isCut: text.length > chars });
`;

/**
 * Runs the code and returns its outcome. Copies the globals it needs before the code can change
 * them. Other changes affect only this worker, and the reader validates the reply.
 */
const MAIN = `
import { arm, stoppedBy } from "guard.js";
import { cut, toText } from "output.js";
import run from "code.js";

const Reply = Response, later = setTimeout, Promised = Promise, race = Promise.race, { stringify } = JSON;
const LATE = {};
const SILENT = ["time", "timeEnd", "timeLog", "timeStamp", "count", "countReset", "groupEnd", "clear"];

function loggingInto(log, chars) {
  const write = (...values) => {
    if (log.isCut) return;
    const next = cut(log.text + values.map(toText).join(" ") + "\\n", chars);
    log.text = next.text;
    log.isCut = next.isCut;
  };
  const assert = (holds, ...values) => holds || write("Assertion failed:", ...values);
  return new Proxy({}, {
    get: (_, name) => (name === "assert" ? assert : SILENT.includes(name) ? () => {} : write),
  });
}

function thrown(error, chars) {
  const isError = error instanceof Error;
  const line = isError ? /code\\.js:(\\d+)/.exec(textOf(error.stack)) : null;
  return { type: "threw", error: cut((isError ? "" : "Thrown: ") + toText(error), chars), line: line && Number(line[1]) };
}
const textOf = String;

async function outcomeOf({ steps, timeoutMs, chars }) {
  const late = new Promised((end) => later(end, timeoutMs, LATE));
  arm(steps, timeoutMs);
  try {
    const value = await race.call(Promised, [run(), late]);
    if (value === LATE) return { type: "stopped", why: "time" };
    return { type: "returned", value: value === undefined ? null : cut(toText(value), chars) };
  } catch (error) {
    return thrown(error, chars);
  }
}

export default {
  async fetch(request) {
    const { files, ...limits } = await request.json();
    const log = { text: "", isCut: false };
    globalThis.files = files;
    globalThis.console = loggingInto(log, limits.chars);
    globalThis.fetch = async () => {
      throw new TypeError("There is no network here. Texts of your files are handed in with the parameter files.");
    };
    const outcome = await outcomeOf(limits);
    const why = stoppedBy();
    return new Reply(stringify({ log, outcome: why === null ? outcome : { type: "stopped", why } }));
  },
};
`;
