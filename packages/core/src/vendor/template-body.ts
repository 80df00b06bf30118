/** A body written by the user's own Handlebars template (webhook, `payload_format: custom`). */

import { hasPlaceholder } from '../mapping/parameters/placeholder.ts';
import { compileTemplate } from '../template/template.ts';
import type { ConfigFault } from './compiled.ts';
import type { VendorDefinition } from './definition.ts';

type Render = (payload: unknown) => { ok: true; text: string } | { ok: false; reason: string };

export function bodyTemplate(
  definition: VendorDefinition,
  values: Record<string, unknown>,
  saving: boolean,
): { render?: Render; faults: ConfigFault[] } {
  for (const { body } of definition.requests) {
    if (body.kind !== 'json' || !body.template || values[body.template.when.field] !== body.template.when.equals) continue;
    const { field } = body.template;
    const text = values[field];
    if (typeof text !== 'string' || (saving && hasPlaceholder(text))) return { faults: [] };
    const template = compileTemplate(text, 'json');
    if (!template.ok) return { faults: [{ field, message: template.message }] };
    return { faults: [], render: (payload) => checked(template.render(payload)) };
  }
  return { faults: [] };
}

/** The fields with a template that writes JSON, for `substitute`. */
export function jsonTemplateFields({ requests }: Pick<VendorDefinition, 'requests'>): string[] {
  return requests.flatMap(({ body }) => (body.kind === 'json' && body.template ? [body.template.field] : []));
}

/** A body that is not JSON is never sent: the receiver would reject every retry. */
function checked(rendered: ReturnType<Render>): ReturnType<Render> {
  if (!rendered.ok) return { ok: false, reason: `template_failed: ${rendered.reason}` };
  try {
    JSON.parse(rendered.text);
    return rendered;
  } catch (error) {
    return {
      ok: false,
      reason: `template_not_json: ${error instanceof Error ? error.message : 'the rendered body is not JSON'}`.slice(0, 300),
    };
  }
}
