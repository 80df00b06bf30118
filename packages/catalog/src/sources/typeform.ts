import type { SourceDefinition } from '@firsthand/core/inbound/source-definition.ts';

/** https://www.typeform.com/developers/webhooks — one form response a request. */
export const typeform: SourceDefinition = {
  provider: 'typeform',
  source_type: 'form_service',
  name: 'Typeform',
  body: 'object',
  event_type_path: '$.event_type',
  event_id_paths: ['$.event_id'],
  timestamp_path: '$.form_response.submitted_at',
  timestamp_format: 'iso8601',
  event_name_map: { form_response: 'Form Submitted', form_response_partial: 'Form Partially Submitted' },
  mappings: {
    userId: '$.form_response.hidden.user_id',
    'properties.form_id': '$.form_response.form_id',
    'properties.form_title': '$.form_response.definition.title',
    'properties.response_token': '$.form_response.token',
    'properties.landed_at': '$.form_response.landed_at',
    'properties.submitted_at': '$.form_response.submitted_at',
    'properties.score': '$.form_response.calculated.score',
    'properties.hidden': '$.form_response.hidden',
    'properties.answers': '$.form_response.answers',
    'properties.fields': '$.form_response.definition.fields',
    'properties.ending': '$.form_response.ending.ref',
    'traits.email': '$.form_response.hidden.email',
  },
  by_type: [],
};
