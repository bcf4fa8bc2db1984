import { expect, it } from "vitest";
import { documentSamples, drawSamples } from "./sample-table";

it("the table lists files that run, then files that run after a step of the user, then refused files", () => {
  const table = drawSamples([
    { file: "tools/shell.yaml", needs: ["shell_docker", "skills"], sent: [] },
    { file: "tools/program.yaml", needs: ["claude_code", "local_inference"], sent: [] },
    { file: "two.yaml", needs: [], sent: [] },
    { file: "one.yaml", needs: [], sent: [] },
    { file: "site.yaml", needs: ["host_context_path"], sent: [] },
    { file: "site-and-memory.yaml", needs: ["host_context_path", "persistent_memory"], sent: [] },
    { file: "weather.yaml", needs: ["stdio_mcp"], sent: [] },
    { file: "picture.yaml", needs: [], sent: ["a.png"] },
    { file: "picture-by-tool.yaml", needs: ["stdio_mcp"], sent: ["a.png"] },
    { file: "video.yaml", needs: ["upload_files"], sent: [] },
    { file: "weather-of-site.yaml", needs: ["stdio_mcp", "host_context_path"], sent: [] },
  ]);
  expect(table.split("\n")).toEqual([
    "Sample configs: 3 of 11 run, 4 more as their rows say",
    "  one.yaml              runs",
    "  picture.yaml          runs with its files, which `massgen-edge` sends along",
    "  two.yaml              runs",
    "  picture-by-tool.yaml  runs with its files, which `massgen-edge` sends along and with `npm run bridge`",
    "  site.yaml             runs once its files are pushed",
    "  weather-of-site.yaml  runs with `npm run bridge` and once its files are pushed",
    "  weather.yaml          runs with `npm run bridge`",
    "  site-and-memory.yaml  refused: persistent_memory (not supported); else it runs once its files are pushed",
    "  tools/program.yaml    refused: claude_code (no backend that runs in a service); else it runs where the operator allows its models' address",
    "  tools/shell.yaml      refused: shell_docker (this service has no containers; an operator can add them with the binding SANDBOX), skills (not supported)",
    "  video.yaml            refused: upload_files (video is not supported; download files at addresses without https first)",
  ]);
});

it("the document has the same texts as the table", () => {
  const page = documentSamples([
    { file: "weather.yaml", needs: ["stdio_mcp"], sent: [] },
    { file: "one.yaml", needs: [], sent: [] },
    { file: "shell.yaml", needs: ["shell_docker"], sent: [] },
  ]);
  expect(page).toContain("1 of 3 run, 1 more as their rows say");
  expect(page.trim().split("\n").slice(-3)).toEqual([
    "| `one.yaml` | runs |",
    "| `weather.yaml` | runs with `npm run bridge` |",
    "| `shell.yaml` | refused: shell_docker (this service has no containers; an operator can add them with the binding SANDBOX) |",
  ]);
});
