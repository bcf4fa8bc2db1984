import { GEMINI } from "./gemini-wire";
import { describeWorkerdContract } from "./workerd-contract";

describeWorkerdContract(GEMINI);
