/** What the orchestrator says as the result of a tool call that nothing else speaks for. */
export const RESULTS = {
  voteRecorded: "Your vote was recorded.",
  answerRecorded: "Your answer was recorded.",
  superseded: "Not counted: your later vote in the same reply takes its place.",
  planned:
    "Recorded as a plan, not executed. Tools that act on the outside are executed only by the agent that presents the final answer. Go on as if planning: do not assume that it happened.",
  refused:
    "Not executed: the reply was cut at its end, asked for too many tools, or asked for tools that were not offered to it.",
  noSuchTool: "There is no such tool. Use only the tools you are offered.",
  outcomeUnknown:
    "The outcome is unknown: the call may or may not have done its work. Verify before you repeat it.",
  notExecuted: "Not executed.",
  empty: "Done. The tool returned no text.",
} as const;
