import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { shown } from "./shown-text";

const NOTHING = "(The tool gave no text.)";

/**
 * What of a result reaches the conversation: its text, with what cannot be seen shown. Images, sound and resources are named by a
 * line each. Nothing in it is a decision, and no envelope of ours stands around it.
 */
export function resultText({ content, structuredContent }: CallToolResult): string {
  const lines = content.map(lineOf);
  const hasText = content.some(({ type }) => type === "text");
  // Servers repeat structured content as text for clients that read no other; where one does not, it is the only answer.
  if (!hasText && structuredContent !== undefined) lines.unshift(shown(JSON.stringify(structuredContent)));
  return lines.length === 0 ? NOTHING : lines.join("\n");
}

function lineOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return shown(block.text);
    case "image":
    case "audio":
      return `[${block.type}, ${named(block.mimeType)}, ${bytesOf(block.data)} bytes; not shown]`;
    case "resource_link":
      return `[resource ${named(block.uri)}, ${named(block.name)}${block.mimeType === undefined ? "" : `, ${named(block.mimeType)}`}]`;
    case "resource": {
      const { resource } = block;
      const size = "text" in resource ? `${resource.text.length} characters` : `${bytesOf(resource.blob)} bytes`;
      return `[resource ${named(resource.uri)}, ${named(resource.mimeType ?? "unknown type")}, ${size}; not shown]`;
    }
  }
}

/** Of base64. */
const bytesOf = (data: string): number => Math.floor((data.replace(/=+$/, "").length * 3) / 4);

const MAX_SHOWN = 300;

/** On one line, short. */
const named = (text: string): string => shown(text).replaceAll(/\s+/g, " ").slice(0, MAX_SHOWN);
