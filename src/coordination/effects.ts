import type { Purpose } from "../protocol/events";

/**
 * Work that a state asks for. Ids never change: the same state owes the same effects before and
 * after a crash.
 */
export type Effect = ModelCallEffect | ToolCallEffect | ToolListingEffect;

export type ModelCallEffect = {
  type: "model_call";
  id: string;
  agent: number;
  round: number;
  purpose: Purpose;
  /** Unix ms; the call must not be sent before. */
  notBefore: number;
};

export type ToolCallEffect = {
  type: "tool_call";
  id: string;
  agent: number;
  round: number;
  toolCall: string;
  name: string;
};

/**
 * Asks an agent's tool servers for their tools. Safe to repeat, so nothing is logged until they
 * have replied.
 */
export type ToolListingEffect = { type: "tool_listing"; id: string; agent: number };

type CallPlace = {
  turn: number;
  attempt: number;
  agent: number;
  round: number;
  call: number;
  sent: number;
};

/** Each try of a call has its own id, made of its place in the session. */
export const callId = (place: CallPlace): string =>
  `call_${place.turn}_${place.attempt}_${place.agent + 1}_${place.round}_${place.call}_${place.sent + 1}`;

/** The common prefix of the ids of all tries of one call. */
export const callIdPrefix = (id: string): string => id.slice(0, id.lastIndexOf("_"));

/** The turn and attempt in a call id; `null` if the id is not a call id. */
export function placeOfCall(id: string): Pick<CallPlace, "turn" | "attempt"> | null {
  const [, turn, attempt] = /^call_(\d+)_(\d+)_\d+_\d+_\d+_\d+$/.exec(id) ?? [];
  return turn && attempt ? { turn: Number(turn), attempt: Number(attempt) } : null;
}

type ToolPlace = { turn: number; attempt: number; agent: number; round: number; toolCall: string };

export const toolEffectId = (place: ToolPlace): string =>
  `tool_${place.turn}_${place.attempt}_${place.agent + 1}_${place.round}_${place.toolCall}`;

export const listingEffectId = (turn: number, agent: number): string =>
  `listing_${turn}_${agent + 1}`;
