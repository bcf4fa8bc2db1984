import { readdirSync, readFileSync } from "node:fs";
import { page, table } from "./markdown";

const FOLDER = "docs/decisions";
const INTRO = `Each decision is one page: the question, the choice, its price. A decision that no longer holds is removed, and
what still holds moves to the page that explains its part. How the parts work together: [how it works](../explain/how-it-works.md).

A new decision takes the next number. Its first line is the title, its third line the status and the date.`;

/**
 * The index of the decisions, from the first lines of their pages. Throws if a page lacks its title
 * or status.
 */
export function decisionsPage(): string {
  const rows = readdirSync(FOLDER)
    .filter((file) => /^\d{4}-/.test(file))
    .sort()
    .map((file) => decisionRow(file, readFileSync(`${FOLDER}/${file}`, "utf8")));
  return page("# Decisions", INTRO, table(["Number", "Title", "Status", "Date"], rows));
}

function decisionRow(file: string, text: string): string[] {
  const [, number = "", title = "", status = "", date = ""] =
    /^# (\d{4}): (.+)\n\nStatus: (.+), (\d{4}-\d\d-\d\d)\n/.exec(text) ?? [];
  if (number === "" || !file.startsWith(`${number}-`)) {
    throw new Error(
      `${file} must begin with "# ${file.slice(0, 4)}: Title", an empty line and "Status: accepted, 2026-11-25".`,
    );
  }
  return [`[${number}](${file})`, title, status, date];
}
