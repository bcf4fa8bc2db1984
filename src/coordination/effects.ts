import type { Purpose } from "../protocol/events";

/** What a state asks the world for. Ids never change: the same state owes the same effects before and after a crash. */
export type Effect = ModelCallEffect | ToolCallEffect | ToolListingEffect;

export type ModelCallEffect = {
  type: "model_call";
  id: string;
  agent: number;
  round: number;
  purpose: Purpose;
  /** Unix ms before which it must not be sent. */
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

/** An agent's tool servers are asked what they have. Safe to be asked again, so nothing is logged until they have said it. */
export type ToolListingEffect = { type: "tool_listing"; id: string; agent: number };

type CallPlace = {
  turn: number;
  attempt: number;
  agent: number;
  round: number;
  call: number;
  sent: number;
};

/** Each try of each call has an id of its own, made of where it stands. */
export const callId = (place: CallPlace): string =>
  `call_${place.turn}_${place.attempt}_${place.agent + 1}_${place.round}_${place.call}_${place.sent + 1}`;

/** What the ids of all tries of one call have in common. */
export const triedCall = (id: string): string => id.slice(0, id.lastIndexOf("_"));

/** Where a call id says that the call stands, as far as anyone asks; null for what is no such id. */
export function placeOfCall(id: string): Pick<CallPlace, "turn" | "attempt"> | null {
  const [, turn, attempt] = /^call_(\d+)_(\d+)_\d+_\d+_\d+_\d+$/.exec(id) ?? [];
  return turn && attempt ? { turn: Number(turn), attempt: Number(attempt) } : null;
}

type ToolPlace = { turn: number; attempt: number; agent: number; round: number; toolCall: string };

export const toolEffectId = (place: ToolPlace): string =>
  `tool_${place.turn}_${place.attempt}_${place.agent + 1}_${place.round}_${place.toolCall}`;

export const listingEffectId = (turn: number, agent: number): string =>
  `listing_${turn}_${agent + 1}`;
