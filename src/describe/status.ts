import type { AgentView } from "../protocol/view";
import { formatProgress } from "./figures";
import { fileChange } from "./file-tools";
import { hostedToolInUse } from "./hosted-tools";

/** `busy`: work in progress. `good`: progress. `bad`: a failure. */
type StatusTone = "dim" | "busy" | "good" | "bad";

const TONES: Record<AgentView["status"], StatusTone> = {
  waiting: "dim",
  streaming: "busy",
  answered: "good",
  voted: "good",
  restarting: "busy",
  error: "bad",
  timeout: "bad",
  completed: "good",
};

/** The tone in which an agent's status is to be shown. */
export const statusTone = (status: AgentView["status"]): StatusTone => TONES[status];

/** Characters of the newest text that are returned: enough to fill any line. */
const NEWEST_CHARS = 600;

/** `matters`: the part of the text that should be shown if the line is too short for all of it. */
type Activity = { text: string; matters: "start" | "end" };

/** Describes what an agent does at `now` (unix ms); `null` if its status says everything. */
export function activityOf(agent: AgentView, now: number): Activity | null {
  if (agent.tools.length > 0)
    return { text: `uses ${agent.tools.map(toolInUse).join(", ")}`, matters: "start" };
  if (agent.retryAt !== null && agent.lastError) {
    const wait = Math.max(0, Math.ceil((agent.retryAt - now) / 1000));
    return { text: `retrying in ${wait} s: ${agent.lastError.message}`, matters: "start" };
  }
  if (agent.out !== null && agent.lastError)
    return { text: agent.lastError.message, matters: "start" };
  return agent.status === "streaming" ? { text: newestText(agent), matters: "end" } : null;
}

const toolInUse = ({ name, progress }: AgentView["tools"][number]): string =>
  progress ? `${name} (${formatProgress(progress)})` : name;

/** The end of the text that an agent streams at the moment. */
function newestText({ stream }: AgentView): string {
  if (!stream?.latest) return "thinks";
  const streamed = stream[stream.latest];
  const text = streamed.text.slice(-NEWEST_CHARS);
  if (stream.latest === "hosted_tool") return hostedToolInUse(stream.tool, text);
  const changed = stream.latest === "tool_arguments" ? fileChange(stream.tool, streamed) : null;
  if (changed !== null) return changed;
  return stream.latest === "tool_arguments"
    ? text.replace(/\\[nrt]/g, " ").replace(/\\(["\\/])/g, "$1")
    : text;
}
