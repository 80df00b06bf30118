/** The calls of an installation: a template, then one integration per pipeline. */
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
  assign(pipelineId: string, templateId: string, consentCategory: string | null): Promise<InstalledIntegration>;
}

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
    for (const id of pipelines) if (!assigned.has(id)) assigned.set(id, await assign(id, made.id, consent_category));
    return { templateId: made.id, integrations: [...assigned.values()] };
  };
}
