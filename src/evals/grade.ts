import { gradeJson } from "./grade-json";
import { gradeNumber } from "./grade-number";
import type { Grade, Grader } from "./schema";

/** Grades an answer. Pure, in time linear in the answer's length; throws never, whatever a model wrote. */
export function grade(answer: string, grader: Grader): Grade {
  switch (grader.type) {
    case "exact":
      return gradeExact(answer, grader);
    case "contains":
      return gradeContains(answer, grader);
    case "number":
      return gradeNumber(answer, grader);
    case "json":
      return gradeJson(answer, grader.value);
  }
}

type Of<T extends Grader["type"]> = Extract<Grader, { type: T }>;

/** Without the white space around both. */
function gradeExact(answer: string, { value, ignore_case }: Of<"exact">): Grade {
  const [found, wanted] = [folded(answer, ignore_case).trim(), folded(value, ignore_case).trim()];
  return found === wanted
    ? { pass: true, detail: "is the text" }
    : { pass: false, detail: `is not "${glimpse(value.trim())}"` };
}

function gradeContains(answer: string, { all, any, ignore_case }: Of<"contains">): Grade {
  const text = folded(answer, ignore_case);
  const isIn = (part: string) => text.includes(folded(part, ignore_case));
  if (any) {
    const found = any.find(isIn);
    return found === undefined
      ? { pass: false, detail: `contains none of ${quoted(any)}` }
      : { pass: true, detail: `contains ${quoted([found])}` };
  }
  const missing = (all ?? []).filter((part) => !isIn(part));
  return missing.length > 0
    ? { pass: false, detail: `lacks ${quoted(missing)}` }
    : { pass: true, detail: `contains ${quoted(all ?? [])}` };
}

/** In one Unicode form, so that an accent written in two ways is the same letter. */
const folded = (text: string, ignoreCase: boolean): string => {
  const composed = text.normalize("NFC");
  return ignoreCase ? composed.toLowerCase() : composed;
};

const quoted = (texts: readonly string[]): string =>
  texts.map((text) => `"${glimpse(text)}"`).join(", ");

const glimpse = (text: string): string =>
  text.length > 60 ? `${text.slice(0, 59)}…`.toWellFormed() : text;
