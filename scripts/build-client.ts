import { buildClient, CLIENT_FOLDER } from "../local/bundle/client-package";
import { runPlain } from "../local/command-line";

const USAGE = `npm run build:client

Builds the client as a package in ${CLIENT_FOLDER}.
\`npm pack ./${CLIENT_FOLDER}\` packs it for others to install.`;

await runPlain(USAGE, async () => {
  await buildClient(CLIENT_FOLDER);
  console.log(`${CLIENT_FOLDER}: pack it with npm pack ./${CLIENT_FOLDER}`);
  return 0;
});
