import type { SourceDefinition } from '@firsthand/core/inbound/source-definition.ts';

/** https://docs.github.com/webhooks/webhook-events-and-payloads — the event and the delivery's id stand in headers; a redelivery has the same id. */
export const github: SourceDefinition = {
  provider: 'github',
  source_type: 'custom',
  name: 'GitHub',
  body: 'object',
  event_type_path: '$headers.x-github-event',
  event_id_paths: ['$headers.x-github-delivery'],
  // Each event has its times elsewhere, and none means "when this happened": the time of receipt is.
  timestamp_path: null,
  timestamp_format: null,
  event_name_map: {
    push: 'Code Pushed',
    pull_request: 'Pull Request Changed',
    issues: 'Issue Changed',
    issue_comment: 'Issue Commented',
    release: 'Release Changed',
    star: 'Repository Starred',
    fork: 'Repository Forked',
    workflow_run: 'Workflow Run Changed',
    deployment: 'Deployment Created',
    deployment_status: 'Deployment Status Changed',
    ping: 'Webhook Ping',
  },
  mappings: {
    userId: '$.sender.login',
    'properties.github_event': '$headers.x-github-event',
    'properties.action': '$.action',
    'properties.repository': '$.repository.full_name',
    'properties.organization': '$.organization.login',
    'properties.sender': '$.sender.login',
    'properties.sender_id': '$.sender.id',
  },
  by_type: [
    {
      prefixes: ['push'],
      mappings: {
        'properties.ref': '$.ref',
        'properties.before': '$.before',
        'properties.after': '$.after',
        'properties.commit_ids': '$.commits[*].id',
        'properties.compare_url': '$.compare',
      },
    },
    {
      prefixes: ['pull_request'],
      mappings: {
        'properties.number': '$.pull_request.number',
        'properties.title': '$.pull_request.title',
        'properties.state': '$.pull_request.state',
        'properties.merged': '$.pull_request.merged',
        'properties.url': '$.pull_request.html_url',
      },
    },
    {
      prefixes: ['issue'],
      mappings: {
        'properties.number': '$.issue.number',
        'properties.title': '$.issue.title',
        'properties.state': '$.issue.state',
        'properties.url': '$.issue.html_url',
      },
    },
    {
      prefixes: ['release'],
      mappings: {
        'properties.tag': '$.release.tag_name',
        'properties.name': '$.release.name',
        'properties.url': '$.release.html_url',
      },
    },
    {
      prefixes: ['workflow_run'],
      mappings: {
        'properties.workflow': '$.workflow_run.name',
        'properties.status': '$.workflow_run.status',
        'properties.conclusion': '$.workflow_run.conclusion',
        'properties.branch': '$.workflow_run.head_branch',
        'properties.url': '$.workflow_run.html_url',
      },
    },
  ],
};
