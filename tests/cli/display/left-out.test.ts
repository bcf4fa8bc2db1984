import { expect, it } from "vitest";
import { endLines } from "../../../cli/display/automation";
import { eventLine, turnLines } from "../../../cli/display/turn-lines";
import { summaryLines } from "../../../cli/display/summary";
import { sessionLinesOf, turnLinesOf } from "../../../cli/display/turn-page";
import { SessionFactsSchema, TurnFactsSchema } from "../../../cli/service/schema";
import { paint } from "../../../cli/terminal/output";
import { SessionStatusSchema, TurnResponseSchema } from "../../../src/protocol/api";
import { toStatus, toTurn } from "../../../src/protocol/view/status";
import { turnOf } from "../../../src/protocol/view";
import * as b from "../../protocol/builders";

/**
 * Every display shows the number of files of the author's previous answer that an answer leaves
 * out.
 */

const text = (lines: Parameters<typeof paint>[0][]) =>
  lines.map((line) => paint(line, { width: 200, color: false })).join("\n");

const files = (label: string, fields: object): b.Body =>
  ({ ...b.answered("anna", label, label === "agent1.1" ? 1 : 2), ...fields }) as b.Body;
const leftOut = { count: 22, paths: Array.from({ length: 20 }, (_, index) => `f${index}`) };
const LOG = b.log([
  b.created("anna"),
  b.turnStarted("anna"),
  b.attemptStarted(),
  files("agent1.1", { snapshot: "agent1.1", files: "workspace" }),
  files("agent1.2", { snapshot: "agent1.2", files: "workspace", left_out: leftOut }),
  b.voted("anna", "agent1.2", 2),
  b.settled("anna", "agent1.2", "consensus", { "agent1.2": 1 }),
  b.completed("anna", "See the files."),
]);
const view = b.view(LOG);

function turn() {
  const found = turnOf(view);
  if (!found) throw new Error("no turn");
  return found;
}

const response = () => TurnResponseSchema.parse(toTurn(view, 1));
const status = () => SessionStatusSchema.parse(toStatus(view, { now: b.START }));
const WARNING =
  /agent1\.2 leaves out 22 files of its author's previous answer: f0, .*, f19 and 2 more\./;

it.each<{ name: string; display: () => string; expected: RegExp }>([
  {
    name: "the line of the event",
    display: () => text(LOG.map((event) => eventLine(event, turn()) ?? [])),
    expected:
      /answers: agent1\.2 \(15 characters, leaves out 22 files of its author's previous answer\)/,
  },
  {
    name: "the state of the team on a terminal",
    display: () => text(turnLines(turn(), { width: 200, height: 20, now: b.START })),
    expected: /2 answers \(agent1\.2, 22 files left out\)/,
  },
  {
    name: "the summary at the end",
    display: () => text(summaryLines(turn(), "http://x")),
    expected: WARNING,
  },
  {
    name: "the output of --automation",
    display: () => endLines(turn(), { url: "http://x" }).join("\n"),
    expected: new RegExp(`WARNING: ${WARNING.source}`),
  },
  {
    name: "the output of show",
    display: () => text(turnLinesOf(TurnFactsSchema.parse(response()))),
    expected: WARNING,
  },
  {
    name: "the page of a session",
    display: () => text(sessionLinesOf(SessionFactsSchema.parse(status()))),
    expected: /agent1\.2 {2}22 files left out/,
  },
  {
    name: "the session's status in the API",
    display: () => JSON.stringify(status().agents["anna"]),
    expected: /"left_out":22/,
  },
  {
    name: "the turn in the API",
    display: () => JSON.stringify(response().attempts[0]?.answers[1]),
    expected: /"files":"workspace","left_out":\{"count":22,"paths":\["f0",/,
  },
])("the number of files that an answer leaves out is in $name (D1)", ({ display, expected }) => {
  expect(display()).toMatch(expected);
});

it("the line of an answer without files does not mention files (D1)", () => {
  const [event] = b.log([files("agent1.1", { files: "kept", kept_files: 0 })]);
  const line = event && eventLine(event, turn());
  expect(text(line ? [line] : [])).toContain("answers: agent1.1 (15 characters)");
});

it.each([
  {
    name: "keeps the earlier files",
    fields: { files: "kept" },
    expected: "no file changed: earlier files stay",
  },
  {
    name: "has no files, because its round deleted all",
    fields: { files: "workspace_cleared" },
    expected: "workspace emptied",
  },
])("the line of an answer that $name says so (D1)", ({ fields, expected }) => {
  const [event] = b.log([files("agent1.1", fields)]);
  const line = event && eventLine(event, turn());
  expect(text(line ? [line] : [])).toContain(`answers: agent1.1 (15 characters, ${expected})`);
});
