import { ANTHROPIC } from "./anthropic-wire";
import { describeWorkerdContract } from "./workerd-contract";

describeWorkerdContract(ANTHROPIC);
