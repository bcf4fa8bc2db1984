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

/** Every display shows how many files of the previous answer an answer leaves out. */

const text = (lines: Parameters<typeof paint>[0][]) =>
  lines.map((line) => paint(line, { width: 200, color: false })).join("\n");

const files = (label: string, more: object): b.Body =>
  ({ ...b.answered("anna", label, label === "agent1.1" ? 1 : 2), ...more }) as b.Body;
const leftOut = { count: 22, paths: Array.from({ length: 20 }, (_, nth) => `f${nth}`) };
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

it.each<{ name: string; shown: () => string; says: RegExp }>([
  {
    name: "the line that scrolls by, live and plain",
    shown: () => text(LOG.map((event) => eventLine(event, turn()) ?? [])),
    says: /answers: agent1\.2 \(15 characters, leaves out 22 files of its author's previous answer\)/,
  },
  {
    name: "the state of the team on a terminal",
    shown: () => text(turnLines(turn(), { width: 200, height: 20, now: b.START })),
    says: /2 answers \(agent1\.2, 22 files left out\)/,
  },
  {
    name: "the summary at the end",
    shown: () => text(summaryLines(turn(), "http://x")),
    says: WARNING,
  },
  {
    name: "--automation",
    shown: () => endLines(turn(), { url: "http://x" }).join("\n"),
    says: new RegExp(`WARNING: ${WARNING.source}`),
  },
  {
    name: "show",
    shown: () => text(turnLinesOf(TurnFactsSchema.parse(response()))),
    says: WARNING,
  },
  {
    name: "the page of a session",
    shown: () => text(sessionLinesOf(SessionFactsSchema.parse(status()))),
    says: /agent1\.2 {2}22 files left out/,
  },
  {
    name: "the status of the API",
    shown: () => JSON.stringify(status().agents["anna"]),
    says: /"left_out":22/,
  },
  {
    name: "the turn of the API",
    shown: () => JSON.stringify(response().attempts[0]?.answers[1]),
    says: /"files":"workspace","left_out":\{"count":22,"paths":\["f0",/,
  },
])("$name (D1)", ({ shown, says }) => {
  expect(shown()).toMatch(says);
});

it("an answer without files that keeps none is shown without a note about files (D1)", () => {
  const [event] = b.log([files("agent1.1", { files: "kept", kept_files: 0 })]);
  const line = event && eventLine(event, turn());
  expect(text(line ? [line] : [])).toContain("answers: agent1.1 (15 characters)");
});

it.each([
  {
    name: "keeps the earlier files",
    more: { files: "kept" },
    says: "no file changed: earlier files stay",
  },
  {
    name: "has none, because its round deleted all",
    more: { files: "workspace_cleared" },
    says: "workspace emptied",
  },
])("an answer that $name is displayed with that fact (D1)", ({ more, says }) => {
  const [event] = b.log([files("agent1.1", more)]);
  const line = event && eventLine(event, turn());
  expect(text(line ? [line] : [])).toContain(`answers: agent1.1 (15 characters, ${says})`);
});
