import { formatDuration } from "../../src/describe/figures";
import { formatUsd } from "../../src/protocol/cost";
import type { TreeFacts } from "../service/schema";
import { formatTime, type Line, segment, type Tone } from "../terminal/output";
import { toLine } from "../terminal/sanitize";
import { fitEnd, fitStart, padTo, widthOf } from "../terminal/text-width";
import { placeTurns } from "./tree-order";

type TurnEntry = TreeFacts["data"][number];

/** From this width on, a line has the time at which its turn started. */
const COLUMNS_WITH_START = 80;
/** The part of the width that branches may indent. Deeper stems lose their beginning. */
const MAX_STEM_SHARE = 1 / 4;

const TONES: Readonly<Record<string, Tone>> = {
  completed: "good",
  failed: "bad",
  cancelled: "bad",
  running: "busy",
};

/**
 * Draws the turns of a session as a tree, one line per turn: number, status, cost, duration, start
 * and question. Before the question stands the team where it changes. `*` marks the head. The lines
 * are cut when they are painted, so the question comes last. `width`: columns of the output. `now`:
 * Unix time in milliseconds, for a running turn.
 */
export function treeLines(
  { data, head }: TreeFacts,
  { width, now }: { width: number; now: number },
): Line[] {
  const entries = new Map(data.map((turn) => [turn.turn, turn]));
  const stemColumns = Math.floor(width * MAX_STEM_SHARE);
  const rows = placeTurns(data).map(({ stem, turn }) => ({
    isHead: turn.turn === head,
    status: turn.status,
    cells: [
      `${fitEnd(stem, stemColumns)}${turn.turn}`,
      toLine(turn.status),
      costOf(turn),
      durationOf(turn, now),
      ...(width < COLUMNS_WITH_START ? [] : [formatTime(turn.started_at * 1000)]),
    ],
    question:
      turn.kind === "compact"
        ? "(summary)"
        : `${teamNote(turn, entries.get(turn.parent_turn ?? 0))}${toLine(turn.question_preview)}`,
  }));
  const widths = [0, 1, 2, 3, 4].map((column) =>
    Math.max(0, ...rows.map(({ cells }) => widthOf(cells[column] ?? ""))),
  );
  return rows.map(({ isHead, status, cells, question }) => {
    const [number = "", statusCell = "", ...others] = cells.map((cell, column) =>
      padTo(cell, widths[column] ?? 0),
    );
    return [
      segment(`${isHead ? "*" : " "} ${number}  `, isHead ? "bold" : "plain"),
      segment(statusCell, TONES[status] ?? "plain"),
      segment(`  ${[...others, question].join("  ")}`),
    ];
  });
}

/** Most columns of a team before the question. */
const MAX_TEAM_COLUMNS = 24;

/**
 * The team of a turn if it is another one than that of its parent: `[critic, writer=gpt-5-mini] `.
 * An agent that the parent does not have with this model is named with its model.
 */
function teamNote({ team, overrides }: TurnEntry, parent: TurnEntry | undefined): string {
  const before = parent?.team.map(nameOf) ?? [];
  const isSame = parent === undefined || team.map(nameOf).join() === before.join();
  const agents = team.map((one) => (before.includes(nameOf(one)) ? one.agent : nameOf(one)));
  const parts = [...(isSame ? [] : agents), ...(overrides?.quick ? ["quick"] : [])];
  return parts.length === 0 ? "" : `[${fitStart(toLine(parts.join(", ")), MAX_TEAM_COLUMNS)}] `;
}

const nameOf = ({ agent, model }: TurnEntry["team"][number]): string => `${agent}=${model}`;

/** The cost of a turn. `≥`: a part of it has no known price. */
function costOf({ cost_usd, cost_usd_known }: TurnEntry): string {
  if (cost_usd !== null) return formatUsd(cost_usd);
  return cost_usd_known > 0 ? `≥${formatUsd(cost_usd_known)}` : "?";
}

const durationOf = ({ started_at, ended_at }: TurnEntry, now: number): string =>
  formatDuration((ended_at === null ? now : ended_at * 1000) - started_at * 1000);
