/**
 * Loads the Kafka client without holding the loop. At its import it compiles 38 validators of options (0.3 s), which it uses with its
 * option `strict` only. We do not set that option, so here they are compiled at their first use.
 */
import { fileURLToPath } from 'node:url';
import { importInSteps } from '../runtime/import-in-steps.ts';

type Validate = { (options: unknown): boolean; errors?: unknown };
interface Compiler {
  compile(schema: object): Validate;
}

export async function loadKafkaClient(): Promise<void> {
  const entry = import.meta.resolve('@platformatic/kafka');
  const utilities = fileURLToPath(new URL('utils.js', entry));
  await importInSteps(entry, (file, module) => {
    if (file === utilities) compileAtFirstUse((module as { ajv: Compiler }).ajv);
  });
}

function compileAtFirstUse(compiler: Compiler): void {
  const compile = compiler.compile.bind(compiler);
  compiler.compile = (schema) => {
    let compiled: Validate | undefined;
    const validate: Validate = (options) => {
      compiled ??= compile(schema);
      const valid = compiled(options);
      validate.errors = compiled.errors;
      return valid;
    };
    return validate;
  };
}
