import type { DiffPlace, DiffPoint } from "../../../../durable-objects/session/session-api";
import { DIFF_LIMITS } from "../../../diff/diff-limits";
import {
  formatReference,
  parseReference,
  type PointReference,
  type Reference,
  REFERENCE_FORMS,
} from "../../../diff/references";
import { ApiError } from "../../errors";
import { refuse } from "../../routes";
import type { SessionStub } from "../../services";

/** Both points of a diff. `from`: `null` for the state before the first turn. */
export type DiffPoints = { from: DiffPoint | null; to: DiffPoint | null };
/** What the request names. `null`: the latest completed turn. */
export type DiffReferences = { from: Reference; to: Reference | null };

/** Parses both references. Throws `bad_query`. */
export function referencesOf(from: string | undefined, to: string | undefined): DiffReferences {
  const references = {
    from: reference("from", from ?? "parent"),
    to: to === undefined ? null : reference("to", to),
  };
  if (references.from.kind === "parent" && references.to?.kind === "parent")
    throw new ApiError(
      "bad_query",
      "`from` and `to` cannot both be `parent`: it is the parent of the other reference's turn. `from` is `parent` if it is omitted.",
    );
  return references;
}

function reference(name: string, text: string): Reference {
  const parsed = parseReference(text);
  if (parsed) return parsed;
  throw new ApiError("bad_query", `\`${name}\` must be ${REFERENCE_FORMS}.`);
}

/** Reads both points. Throws `reference_not_found` with the references that exist. */
export async function readPoints(
  stub: SessionStub,
  { from, to }: DiffReferences,
): Promise<DiffPoints> {
  if (from.kind === "parent") {
    const point = await readPoint(stub, to?.kind === "point" ? to : null);
    return { from: await parentOf(stub, point), to: point };
  }
  const fromPoint = await readPoint(stub, from);
  if (to?.kind === "parent") return { from: fromPoint, to: await parentOf(stub, fromPoint) };
  return { from: fromPoint, to: await readPoint(stub, to) };
}

async function parentOf(stub: SessionStub, { parent }: DiffPoint): Promise<DiffPoint | null> {
  return parent === null ? null : readPoint(stub, turnAlone(parent));
}

const turnAlone = (turn: number): PointReference => ({
  kind: "point",
  turn,
  attempt: null,
  label: null,
});

const LATEST: DiffPlace = { turn: null, attempt: null, label: null };

async function readPoint(stub: SessionStub, wanted: PointReference | null): Promise<DiffPoint> {
  const result = await stub.diffPoint(wanted ?? LATEST);
  if (result.ok) return result.point;
  if (result.code === "session_not_found") return refuse(result.code);
  throw await unknownReference(stub, wanted);
}

/** The refusal of an unknown reference. It lists the references of the turn, or all turns. */
async function unknownReference(
  stub: SessionStub,
  wanted: PointReference | null,
): Promise<ApiError> {
  const ofTurn = wanted?.label == null ? [] : await answersOf(stub, wanted.turn);
  const existing = ofTurn.length > 0 ? ofTurn : ["parent", ...(await turnsOf(stub))];
  const listed = existing.slice(0, DIFF_LIMITS.references);
  const more = existing.length - listed.length;
  const problem =
    wanted === null
      ? "No turn of this session has completed. Name both references."
      : `There is no ${formatReference(wanted)} in this session.`;
  const names = `${listed.join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
  return new ApiError("reference_not_found", `${problem} References that exist: ${names}.`, {
    references: listed,
    ...(more > 0 && { references_more: more }),
  });
}

async function turnsOf(stub: SessionStub): Promise<string[]> {
  const result = await stub.status();
  return result.ok ? result.status.turns.map(({ turn }) => `turn_${turn}`) : [];
}

/** The turn and its answers. An answer that has a later one of the same label has its attempt. */
async function answersOf(stub: SessionStub, turn: number): Promise<string[]> {
  const result = await stub.turn(turn);
  if (!result.ok) return [];
  const { attempts } = result.turn;
  const answers = attempts.flatMap(({ attempt, answers: all, presentation }) =>
    [...all, ...(presentation ? [presentation] : [])].map(({ label }) =>
      formatReference({ turn, attempt: attempts.length > 1 ? attempt : null, label }),
    ),
  );
  return [`turn_${turn}`, ...answers];
}
