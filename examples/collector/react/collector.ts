import { init } from '@firsthand/collector';

export const collector = init({
  pipelineKey: 'pk_YOUR_KEY',
  ingestUrl: 'https://events.example.com',
  config: { consent_config: { provider: 'auto' } },
});
