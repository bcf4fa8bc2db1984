import type { EventType } from "../../src/protocol/events";

/** The meaning of each event. A new event type does not compile until it has a meaning. */
export const EVENT_MEANINGS: Readonly<Record<EventType, string>> = {
  "session.created": "The session exists. It carries the team's rules as plain data.",
  "head.moved":
    "The user moved the head: the next turn continues this turn unless it names another.",
  "turn.started": "A question was accepted. It carries the aliases, the budget and the deadline.",
  "history.summarised":
    "A summary replaces older turns in the prompts. It also serves all later turns of this branch.",
  "history.cut":
    "There is no summary of older turns, so their texts are cut in the middle, the oldest first.",
  "attempt.started": "Coordination begins, for the first time or after a rejected final answer.",
  "personas.assigned": "One persona per agent, written before the attempt.",
  "round.started": "An agent begins a round with these answers in view.",
  "round.failed": "The round ended without a decision. The agent gets a fresh round, or fails.",
  "call.started": "A model call is stored and will be sent. Its cost is reserved.",
  "call.deferred": "The call waits until the budget has room for it.",
  "call.waiting": "The call waits for room in the backend's rate limit.",
  "hosted_tool.completed": "The provider ran one of its own tools during the call.",
  "citations.added": "Sources that the provider gave for the text of the call.",
  "call.completed": "The reply is complete. Its usage and cost are settled.",
  "call.failed": "The try failed. `retry_at` has the time of the next try.",
  "conversation.compacted": "A summary replaced the older part of the agent's conversation.",
  "stream.delta": "Parts of text, reasoning or tool arguments, while models write them.",
  "tools.listed": "The tools of one tool server for one agent, or why the server cannot be used.",
  "tool.started": "A tool call runs.",
  "tool.progressed": "The tool server reported progress.",
  "tool.input_required":
    "The tool server asked for input by a person. The service does not answer.",
  "tool.completed": "The tool call ended.",
  "tool.interrupted": "A restart interrupted the tool call. It is safe to repeat and runs again.",
  "tool.unknown": "It is unknown whether the tool did its work. The call is not repeated.",
  "files.accessed": "Files that a tool call read, listed, wrote or deleted, and refused accesses.",
  "answer.submitted": "An answer was accepted and has a label and a revision.",
  "answer.refused": "An answer was refused. The agent continues.",
  "votes.cleared": "These votes no longer count, because of a new answer.",
  "vote.cast": "A vote was accepted.",
  "vote.stale": "A vote was not counted: the voter had not seen every newest answer.",
  "vote.refused": "A vote was refused, for example for an unknown alias.",
  "round.nudged": "A reply had no decision. The agent is asked again.",
  "answers.injected": "Newer answers were shown to a working agent in the same conversation.",
  "agent.failed": "The agent cannot continue. Its answers stay candidates.",
  "agent.abstained": "The agent reached a limit and does not vote. Its answers stay candidates.",
  "attempt.settled": "Coordination ended. `ended_by` has the reason and `winner` the agent.",
  "presentation.started": "The winner writes the final text.",
  "presentation.completed": "The final text, or the winning answer in its place.",
  "attempt.restarted":
    "The presenter rejected its final text. The next attempt begins with its reason.",
  "turn.completed": "The turn has its final answer. It never changes.",
  "turn.failed": "The turn has no answer. `agents` has a reason for each agent.",
  "turn.cancelled":
    "The turn was cancelled. `partial` has the leading answer and the unfinished text.",
};
