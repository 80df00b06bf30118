/** The calls of an installation: a template, then one integration per pipeline. */
import { RefusedError } from '../../api-client.ts';
import type { ConfigField } from '../../components/config-field.ts';
import type { TestMode } from '../../components/trial-event.tsx';

export interface InstallableVendor {
  key: string;
  name: string;
  category: string;
  config_fields: ConfigField[];
  variants: { key: string; name: string; default_config: unknown }[];
  default_consent_category?: string | null;
  connect: unknown;
  see_it: string | null;
  test_mode: TestMode | null;
}
export interface InstalledIntegration {
  id: string;
  name: string;
  pipeline_id: string;
}
export interface Wanted {
  template: { name: string; variant: string; config: Record<string, unknown> };
  pipelines: readonly string[];
  consent_category: string | null;
}
export interface InstallCalls {
  /** Answers the id of the template. */
  install(vendor: string, template: Wanted['template']): Promise<string>;
  /** Undefined where the vendor can only be used once its account is connected. */
  assign(pipelineId: string, templateId: string, consentCategory: string | null): Promise<InstalledIntegration | undefined>;
}

/** The field that connecting an account fills. It has this name at every vendor. */
export const ACCOUNT_FIELD = 'refresh_token';
export const lacksAccountOnly = (error: unknown): boolean =>
  error instanceof RefusedError &&
  error.details.length > 0 &&
  error.details.every(({ field }) => field.split(/[./]/).at(-1) === ACCOUNT_FIELD);

/**
 * May be called again after a failure: it goes on where it stopped. A pipeline never gets the vendor twice, and a template is made again
 * only where what was typed has changed.
 */
export function installation(vendor: string, { install, assign }: InstallCalls) {
  let made: { from: string; id: string } | undefined;
  const assigned = new Map<string, InstalledIntegration>();
  return async ({
    template,
    pipelines,
    consent_category,
  }: Wanted): Promise<{ templateId: string; integrations: InstalledIntegration[] }> => {
    const from = JSON.stringify(template);
    if (made?.from !== from) made = { from, id: await install(vendor, template) };
    for (const id of pipelines) {
      const integration = assigned.get(id) ?? (await assign(id, made.id, consent_category));
      if (integration === undefined) break;
      assigned.set(id, integration);
    }
    return { templateId: made.id, integrations: [...assigned.values()] };
  };
}
