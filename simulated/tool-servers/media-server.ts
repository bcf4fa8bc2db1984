import { deflateSync } from "node:zlib";
import { PIXEL } from "./pixel";
import { reply, scriptedServer, text, tool } from "./scripted-server";

const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64");
/** Bytes that are too large for a database row and hard to compress. */
const LARGE = Uint8Array.from({ length: 1_500_000 }, (_, nth) => (nth * nth * 31) % 251);

const CONTENT = {
  draw: [
    { type: "text", text: "One pixel, its notes, its source and where it hangs:" },
    { type: "image", data: PIXEL, mimeType: "image/gif" },
    {
      type: "resource",
      resource: {
        uri: "box://notes\u001b",
        mimeType: "text/markdown",
        text: "# Notes\nIt is red.",
      },
    },
    {
      type: "resource",
      resource: {
        uri: "../../etc/passwd",
        blob: base64(deflateSync("raw")),
        mimeType: "application/zlib",
      },
    },
    { type: "resource_link", uri: "http://127.0.0.1:9/gallery", name: "gallery", size: 7 },
    { type: "image", data: "§ no base64 §", mimeType: "image/png" },
  ],
  scan: [{ type: "resource", resource: { uri: "box://scan", blob: base64(LARGE) } }],
  shatter: [
    { type: "text", text: "It broke on the way." },
    { type: "audio", data: "a", mimeType: "audio/wav" },
  ],
};

const isNamed = (name: unknown): name is keyof typeof CONTENT =>
  typeof name === "string" && Object.hasOwn(CONTENT, name);

/** An MCP server whose tools return binary content in all valid forms and some invalid forms. */
export function mediaServer() {
  return scriptedServer({
    tools: Object.keys(CONTENT).map((name) => tool(name)),
    call: ({ message: { id, params }, response }) => {
      const name = params?.["name"];
      reply(
        response,
        id,
        isNamed(name) ? { content: CONTENT[name] } : text("There is no such thing."),
      );
    },
  });
}
