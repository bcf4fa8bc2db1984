import { expect, it } from "vitest";
import type { DeltaItem } from "../../../src/protocol/events";
import { appendDelta, emptyStream } from "../../../src/protocol/view/stream";
import type { AgentView } from "../../../src/protocol/view/types";

const piece = (changes: Partial<DeltaItem>): DeltaItem => ({
  ...{ agent: "a", round: 1, call: "c", kind: "tool_arguments", offset: 0, text: "" },
  ...changes,
});

/** The tool name and the arguments that the view shows after each piece. */
function shown(items: readonly DeltaItem[]): string[] {
  const agent = { stream: emptyStream("c") } as unknown as AgentView;
  return items.map((item) => {
    appendDelta(agent, item);
    return `${agent.stream?.tool} ${agent.stream?.tool_arguments.text}`;
  });
}

it.each([
  {
    name: "only the latest of two tools, from the start of its arguments",
    items: [
      piece({ name: "read", tool_index: 0, text: '{"path":"a"}' }),
      piece({ name: "find", tool_index: 1, text: '{"q":"x"}' }),
    ],
    shows: ['read {"path":"a"}', 'find {"q":"x"}'],
  },
  {
    name: "only the latest of two calls of one tool",
    items: [
      piece({ name: "read", tool_index: 0, text: '{"path":"long"}' }),
      piece({ name: "read", tool_index: 1, text: '{"pa' }),
      piece({ name: "read", tool_index: 1, offset: 4, text: 'th":"b"}' }),
    ],
    shows: ['read {"path":"long"}', 'read {"pa', 'read {"path":"b"}'],
  },
  {
    name: "repeated text only once",
    items: [
      piece({ name: "read", tool_index: 0, text: '{"a"' }),
      piece({ name: "read", tool_index: 0, text: '{"a":1' }),
    ],
    shows: ['read {"a"', 'read {"a":1'],
  },
  {
    name: "all calls of a tool together if the log has no indexes",
    items: [
      piece({ name: "read", text: '{"a":1}' }),
      piece({ name: "read", offset: 7, text: '{"b":2}' }),
      piece({ name: "find", text: "{" }),
    ],
    shows: ['read {"a":1}', 'read {"a":1}{"b":2}', "find {"],
  },
])("a live view shows $name (F3)", ({ items, shows }) => expect(shown(items)).toEqual(shows));
