/**
 * The modules of one call's worker, by name: the model's code, and the modules that run it. `main`
 * is the name of the module that starts first.
 */
type WorkerModules = { main: string; modules: Readonly<Record<string, string>> };

/**
 * Returns the modules for guarded code. `text` is the code, and `guard` is the name of the guard
 * function in that code. The code begins on the first line of its module, so line numbers in errors
 * are those of the model's code.
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
 * Module that counts steps. After a limit is reached, each further step throws, so code cannot
 * continue by catching the error. The clock is checked at each 64th step. On the edge, the clock
 * does not advance while code computes; elsewhere, only this check stops a loop at the timeout.
 */
export const GUARD = `
const clock = Date.now;
const Stop = Error;
let stepsLeft = 0, deadline = 0, stopReason = null;

export function arm(steps, timeoutMs) {
  stepsLeft = steps;
  deadline = clock() + timeoutMs;
}
export const stoppedBy = () => stopReason;
export function step() {
  if (stopReason !== null || (--stepsLeft & 63) === 0) check();
}
function check() {
  if (stopReason === null && stepsLeft <= 0) stopReason = "steps";
  if (stopReason === null && clock() > deadline) stopReason = "time";
  if (stopReason !== null) throw new Stop("The code was stopped.");
}
`;

/**
 * Module that converts values to text. The text is JSON where possible. Values that JSON omits or
 * refuses are converted too.
 */
export const OUTPUT = `
const { stringify } = JSON;
const listOf = Array.from, textOf = String, isView = ArrayBuffer.isView;
const AnError = Error, AMap = Map, ASet = Set, AView = DataView;

function toPlain(value) {
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
    const plain = toPlain(value);
    if (typeof plain !== "object" || plain === null) return textOf(plain);
    return textOf(stringify(plain, (_, part) => toPlain(part)));
  } catch (error) {
    return "[cannot be shown: " + (error instanceof AnError ? error.message : typeof error) + "]";
  }
}

/** The beginning of a text; isCut says whether characters are missing. */
export const cut = (text, chars) => ({ text: text.slice(0, chars), isCut: text.length > chars });
`;

/**
 * The main module. It runs the code and returns its outcome. It copies the globals that it needs
 * before the code can change them. Other changes by the code affect only this worker, and the
 * runner validates the reply.
 */
const MAIN = `
import { arm, stoppedBy } from "guard.js";
import { cut, toText } from "output.js";
import run from "code.js";

const Reply = Response, startTimer = setTimeout, Promised = Promise, race = Promise.race, { stringify } = JSON;
const TIMED_OUT = {};
const IGNORED_METHODS = ["time", "timeEnd", "timeLog", "timeStamp", "count", "countReset", "groupEnd", "clear"];

function loggingConsole(log, chars) {
  const write = (...values) => {
    if (log.isCut) return;
    const next = cut(log.text + values.map(toText).join(" ") + "\\n", chars);
    log.text = next.text;
    log.isCut = next.isCut;
  };
  const assert = (holds, ...values) => holds || write("Assertion failed:", ...values);
  return new Proxy({}, {
    get: (_, name) => (name === "assert" ? assert : IGNORED_METHODS.includes(name) ? () => {} : write),
  });
}

function threwOutcome(error, chars) {
  const isError = error instanceof Error;
  const line = isError ? /code\\.js:(\\d+)/.exec(textOf(error.stack)) : null;
  return { type: "threw", error: cut((isError ? "" : "Thrown: ") + toText(error), chars), line: line && Number(line[1]) };
}
const textOf = String;

async function outcomeOf({ steps, timeoutMs, chars }) {
  const timeout = new Promised((end) => startTimer(end, timeoutMs, TIMED_OUT));
  arm(steps, timeoutMs);
  try {
    const value = await race.call(Promised, [run(), timeout]);
    if (value === TIMED_OUT) return { type: "stopped", why: "time" };
    return { type: "returned", value: value === undefined ? null : cut(toText(value), chars) };
  } catch (error) {
    return threwOutcome(error, chars);
  }
}

export default {
  async fetch(request) {
    const { files, ...limits } = await request.json();
    const log = { text: "", isCut: false };
    globalThis.files = files;
    globalThis.console = loggingConsole(log, limits.chars);
    globalThis.fetch = async () => {
      throw new TypeError("There is no network here. Texts of your files are handed in with the parameter files.");
    };
    const outcome = await outcomeOf(limits);
    const why = stoppedBy(); // this limit takes precedence: code may catch the guard's error
    return new Reply(stringify({ log, outcome: why === null ? outcome : { type: "stopped", why } }));
  },
};
`;
