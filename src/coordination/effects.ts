import type { Purpose } from "../protocol/events";

/**
 * Work that the shell must do because of a state. The same state always owes effects with the same
 * ids, also after a crash.
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
 * A listing of the tools of an agent's tool servers. It is safe to repeat, so nothing is logged
 * before the servers have replied.
 */
export type ToolListingEffect = { type: "tool_listing"; id: string; agent: number };

type CallPlace = {
  turn: number;
  attempt: number;
  agent: number;
  round: number;
  call: number;
  /** How often the call was sent before. */
  sent: number;
};

/** The id of one try of a call. It consists of the place of the try in the session. */
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
