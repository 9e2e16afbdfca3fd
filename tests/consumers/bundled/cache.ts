export class SessionRecord {
  data: number[];
  constructor(public id: number) {
    this.data = new Array(16).fill(id);
  }
}

export class SessionCache {
  private records = new Map<string, SessionRecord>();
  put(record: SessionRecord) {
    this.records.set('session ' + record.id, record);
  }
}

class AuditEntry {
  constructor(public id: number) {}
}

export class AuditTrail {
  entries: AuditEntry[] = [];
  onRequest = (id: number) => {
    this.entries.push(new AuditEntry(id));
  };
}
