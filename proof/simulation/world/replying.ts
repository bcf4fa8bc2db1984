import type { ModelCallEffect, Reply } from "../../../src/coordination";
import type { Decision } from "../../../src/protocol/events";
import { drawHosted } from "./hosting";
import { agentsWithAnswer, type ReplySources } from "./character";
import { SERVED_TOOLS, TOOLS } from "./rules-situation";
import { drawFinal, drawText, drawUnusable } from "./texts";
import type { CallContext } from "./world";

/** The values from which the reply to a call is drawn. */
type Drawing = { sources: ReplySources; context: CallContext; effect: ModelCallEffect };

/** Draws a model's reply, depending on the purpose of the call and the agent's character. */
export function drawReply(
  sources: ReplySources,
  effect: ModelCallEffect,
  context: CallContext,
): Reply {
  const drawing = { sources, context, effect };
  const { chance, has } = sources;
  const base: Reply = {
    stopReason: "stop",
    usage: null,
    ...drawHosted(chance, context.started),
    text: chance.is(0.3) ? drawText(chance) : "",
    tools: [],
    decisions: [],
    verdict: null,
    personas: null,
  };
  const isWithheld = has("withheld_replies") && chance.is(0.15);
  // Half of the withheld replies have content that would count if they were not withheld.
  const reply = isWithheld && chance.is(0.5) ? base : replyFor(drawing, base);
  return isWithheld
    ? { ...reply, stopReason: chance.pick(["content_filter", "refusal"] as const) }
    : reply;
}

function replyFor(drawing: Drawing, base: Reply): Reply {
  const { chance } = drawing.sources;
  switch (drawing.effect.purpose) {
    case "coordination":
      return coordination(drawing, base);
    case "presentation":
      return presentation(drawing, base);
    case "judgement":
      return {
        ...base,
        verdict: chance.pick([
          null,
          { restart: false },
          { restart: true, reason: "shallow", instructions: "dig deeper" },
        ]),
      };
    case "personas":
      return { ...base, personas: drawPersonas(drawing) };
    case "summary":
      return {
        ...base,
        text: chance.is(0.9) ? drawText(chance) : " ",
        stopReason: chance.weighted({ stop: 12, length: 1, unknown: 1 }),
      };
  }
}

function coordination(drawing: Drawing, base: Reply): Reply {
  const { chance, has } = drawing.sources;
  if (drawing.context.started.offers.length === 0 && chance.is(0.7)) return research(drawing, base);
  const isSilent = has("silence") && chance.is(0.35);
  const decisions = isSilent ? [] : drawDecisions(drawing);
  const tools = drawTools(drawing, 0.35);
  const usesToolsFirst = tools.length > 0 && chance.is(0.6);
  const stopReason = chance.weighted({
    tool_calls: 20,
    stop: 8,
    unknown: 1,
    length: isSilent ? 4 : 1,
  });
  return { ...base, stopReason, tools, decisions: usesToolsFirst ? [] : decisions };
}

/** The reply to a call without decisions: notes, or an empty text. */
function research({ sources: { chance } }: Drawing, base: Reply): Reply {
  return {
    ...base,
    text: chance.is(0.8) ? drawText(chance) : "",
    stopReason: chance.pick(["stop", "stop", "length"] as const),
  };
}

function presentation(drawing: Drawing, base: Reply): Reply {
  const { chance, has } = drawing.sources;
  const text = has("silence") && chance.is(0.3) ? " " : drawFinal(chance);
  const isCut = has("silence") && chance.is(0.2);
  const stopReason = isCut ? chance.pick(["length", "unknown"] as const) : "stop";
  return { ...base, stopReason, text, tools: drawTools(drawing, 0.3), storable: true };
}

/** Draws tool calls. Their ids contain the call's id, because they must be unique in the round. */
function drawTools(
  { sources: { chance, has }, effect }: Drawing,
  rate: number,
): { toolCall: string; name: string }[] {
  if (!has("tools") || !chance.is(rate)) return [];
  const size = chance.weighted({ one: 60, few: 30, dozen: 8, flood: has("stubborn") ? 20 : 1 });
  const count = { one: 1, few: 3, dozen: 12, flood: 70 }[size];
  return Array.from({ length: count }, (_, nth) => ({
    toolCall: `${effect.id}_use_${nth + 1}`,
    name: chance.is(0.05) ? "no_such_tool" : chance.pick([...TOOLS, ...SERVED_TOOLS]).name,
  }));
}

function drawDecisions(drawing: Drawing): Decision[] {
  const { chance, character } = drawing.sources;
  if (character === "careless" && chance.is(0.6)) return drawMistake(drawing);
  const hasAnswered = agentsWithAnswer(drawing.context.state).some(
    ({ agent }) => agent.index === drawing.effect.agent,
  );
  if (!hasAnswered) return [newAnswer(drawing, drawText(chance))];
  const votes = chance.is(
    { agreeable: 0.9, improver: 0.55, careless: 0.6, stubborn: 0.05 }[character],
  );
  return [votes ? vote(drawing) : newAnswer(drawing, nextText(drawing))];
}

/** Usually a new text, sometimes the text of an earlier answer, or nearly the same text. */
function nextText(drawing: Drawing): string {
  const { chance } = drawing.sources;
  switch (chance.weighted({ fresh: 7, known: 1, close: 2 })) {
    case "fresh":
      return drawText(chance);
    case "known":
      return knownText(drawing);
    case "close":
      return `${knownText(drawing)} again`;
  }
}

/** Draws a mistake that models make, such as an unknown alias or several decisions. */
function drawMistake(drawing: Drawing): Decision[] {
  const { chance } = drawing.sources;
  const tool_call = `${drawing.effect.id}_bad`;
  switch (chance.int(1, 9)) {
    case 1:
      return [vote(drawing, "agent99")];
    case 2:
      return [vote(drawing, anyAlias(drawing))];
    case 3:
      return [vote(drawing, "agent99"), vote(drawing), vote(drawing)];
    case 4:
      return [newAnswer(drawing, drawText(chance)), newAnswer(drawing, drawText(chance))];
    case 5:
      return [newAnswer(drawing, drawText(chance)), vote(drawing)];
    case 6:
      return [
        {
          name: "invalid",
          tool: chance.pick(["new_answer", "vote"] as const),
          tool_call,
          problem: "The arguments are not JSON.",
        },
      ];
    case 7:
      return [newAnswer(drawing, drawUnusable(chance))];
    case 8:
      return [{ ...vote(drawing), reason: chance.is(0.2) ? "because ".repeat(600) : "" }];
    default:
      return [newAnswer(drawing, knownText(drawing))];
  }
}

const newAnswer = (
  { effect }: Drawing,
  content: string,
): Extract<Decision, { name: "new_answer" }> => ({
  name: "new_answer",
  tool_call: `${effect.id}_answer`,
  content,
});

function vote(
  { sources: { chance }, effect, context }: Drawing,
  alias?: string,
): Extract<Decision, { name: "vote" }> {
  const authors = agentsWithAnswer(context.state).map((author) => author.alias);
  const chosen = alias ?? (authors.length > 0 ? chance.pick(authors) : "agent1");
  return { name: "vote", tool_call: `${effect.id}_vote`, alias: chosen, reason: drawText(chance) };
}

/** The alias of any agent of the team, with or without an answer. */
const anyAlias = ({ sources: { chance }, context }: Drawing): string =>
  chance.pick(context.state.turn?.aliases ?? ["agent1"]);

/** The text of an earlier answer. */
function knownText({ sources: { chance }, context }: Drawing): string {
  const texts = context.state.turn?.attempt.answers ?? [];
  return texts.length > 0 ? chance.pick(texts).content : drawText(chance);
}

function drawPersonas({ sources: { chance }, context }: Drawing): Record<string, string> | null {
  const aliases = context.state.turn?.aliases ?? [];
  if (chance.is(0.2)) return null;
  return Object.fromEntries(
    aliases.filter(() => chance.is(0.8)).map((alias) => [alias, `a ${drawText(chance)} thinker`]),
  );
}
