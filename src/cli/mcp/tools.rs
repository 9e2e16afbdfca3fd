//! The tools, made of the commands' own arguments.

use crate::cli::COMMANDS;
use crate::cli::args::Cli;
use clap::{Arg, ArgAction, Command, CommandFactory};
use serde_json::{Map, Value, json};
use std::any::TypeId;
use std::ffi::OsString;

/// Options of commands that tools do not have, because answers are JSON, `suspects` is a tool, and
/// only single files are written.
const LEFT_OUT: [&str; 4] = ["dot", "suspects", "help", "partition"];

/// Common options that tools have, besides the timeout of `query`: files that restore the names of
/// minified programs. Only tools that compare have the last one.
const NAMES: [&str; 3] = ["source-maps", "mapping", "old-mapping"];
const COMPARING: [&str; 4] = ["diff", "growth", "check", "convert"];

/// Names of the positional arguments for files that commands read. Tools call all of them `file`,
/// so that an assistant has one name to remember.
const FILES: [&str; 5] = ["files", "input", "old", "new", "after"];

/// Maximum rows and entries that can be requested, because an answer is kept in memory.
const MOST_ROWS: u64 = 10_000;
const MOST_PATHS: u64 = 1_000;

/// Default maximum bytes of an answer: about 10 000 tokens.
const USUAL_BYTES: u64 = 32 << 10;
const LEAST_BYTES: u64 = 1 << 10;
const MOST_BYTES: u64 = 64 << 20;

pub(super) struct Tools(Vec<Tool>);

pub(super) struct Tool {
    name: &'static str,
    command: &'static str,
    option: Option<&'static str>,
    about: String,
    arguments: Vec<Argument>,
}

/// A command line to run.
pub(super) struct Call {
    pub(super) words: Vec<OsString>,
    /// Bytes that the answer may have.
    pub(super) most: usize,
}

struct Argument {
    name: String,
    /// The name of the option. `None` for a positional argument.
    option: Option<String>,
    kind: Kind,
    is_required: bool,
    /// The default of a positional argument.
    default: Option<String>,
    schema: Value,
}

#[derive(Clone, Copy)]
enum Kind {
    Flag,
    Integer { least: u64, most: u64 },
    Text,
    Texts,
}

impl Tools {
    /// The tools with the arguments of the command line. `only_file` is the file that they are
    /// about if none is named.
    pub(super) fn of_command_line(only_file: Option<&str>) -> Self {
        let cli = Cli::command();
        let offered = COMMANDS.iter().filter(|(_, offer)| offer.mcp).map(|(name, _)| *name);
        // Assistants would not look for suspects among the options of `top`, so they are a tool.
        let with_suspects = |name| match name {
            "top" => vec![("top", name, None), ("suspects", name, Some("suspects"))],
            _ => vec![(name, name, None)],
        };
        let tool = |(name, command, option)| {
            let subcommand = cli.find_subcommand(command)?;
            let names = if COMPARING.contains(&command) { &NAMES[..] } else { &NAMES[..2] };
            let named = |arg: &&Arg| {
                let is_timeout = |long| long == "timeout" && command == "query";
                arg.get_long().is_some_and(|long| names.contains(&long) || is_timeout(long))
            };
            let mut tool = Tool::of(name, command, subcommand, option, only_file);
            tool.arguments
                .extend(cli.get_arguments().filter(named).map(|arg| Argument::of(arg, None)));
            Some(tool)
        };
        Self(offered.flat_map(with_suspects).filter_map(tool).collect())
    }

    pub(super) fn find(&self, name: &str) -> Option<&Tool> {
        self.0.iter().find(|tool| tool.name == name)
    }

    /// The tools as the protocol describes them.
    pub(super) fn list(&self) -> Vec<Value> {
        self.0.iter().map(Tool::description).collect()
    }
}

impl Tool {
    fn of(
        name: &'static str,
        command: &'static str,
        subcommand: &Command,
        option: Option<&'static str>,
        only_file: Option<&str>,
    ) -> Self {
        let flag = subcommand.get_arguments().find(|arg| arg.get_long() == option);
        let flag = option.and(flag);
        let conflict = |a: &Arg, b: &Arg| {
            subcommand.get_arg_conflicts_with(a).iter().any(|other| other.get_id() == b.get_id())
        };
        // Only heaps have suspects.
        let goes_with = |arg: &Arg, flag: &Arg| {
            !conflict(arg, flag)
                && !conflict(flag, arg)
                && arg.get_help_heading() != Some("Profiles")
        };
        let offered = subcommand
            .get_arguments()
            .filter(|arg| !arg.is_hide_set() && !LEFT_OUT.iter().any(|name| arg.get_id() == name))
            .filter(|arg| flag.is_none_or(|flag| goes_with(arg, flag)))
            .map(|arg| Argument::of(arg, only_file));
        let mut arguments: Vec<Argument> = Vec::new();
        for argument in offered {
            match arguments.iter_mut().find(|earlier| earlier.name == argument.name) {
                Some(earlier) => earlier.extend(&argument),
                None => arguments.push(argument),
            }
        }
        let about = match flag {
            Some(flag) => flag.get_help(),
            None => subcommand.get_long_about().or(subcommand.get_about()),
        };
        let about = about.map(ToString::to_string).unwrap_or_default();
        Self { name, command, option, about, arguments }
    }

    fn description(&self) -> Value {
        let mut properties: Map<String, Value> =
            self.arguments.iter().map(|arg| (arg.name.clone(), arg.schema.clone())).collect();
        properties.insert(
            "max_bytes".to_owned(),
            json!({
                "type": "integer",
                "minimum": LEAST_BYTES,
                "maximum": MOST_BYTES,
                "default": USUAL_BYTES,
                "description": "Maximum size of the answer. A longer one contains only the first \
                                elements of its lists, and a note",
            }),
        );
        let required: Vec<_> =
            self.arguments.iter().filter(|arg| arg.is_required).map(|arg| &arg.name).collect();
        json!({
            "name": self.name,
            "description": self.about,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
            "annotations": {
                "readOnlyHint": !self.writes(),
                "destructiveHint": false,
                "idempotentHint": !self.writes(),
                "openWorldHint": false,
            },
        })
    }

    /// Whether the tool writes a new file, which it refuses to do a second time.
    fn writes(&self) -> bool {
        self.command == "convert"
    }

    /// The command line for these arguments. Fails with a message about the first argument that is
    /// unknown, missing, or not of its type. The command itself reports any other error.
    pub(super) fn call(&self, given: &Map<String, Value>) -> Result<Call, String> {
        let names = || {
            let names: Vec<_> = self.arguments.iter().map(|arg| arg.name.as_str()).collect();
            format!("{}, max_bytes", names.join(", "))
        };
        let is_known = |name: &String| {
            name == "max_bytes" || self.arguments.iter().any(|arg| arg.name == *name)
        };
        if let Some(unknown) = given.keys().find(|name| !is_known(name)) {
            return Err(format!("unknown argument {unknown:?}; {} has {}", self.name, names()));
        }
        let most = match given.get("max_bytes") {
            None | Some(Value::Null) => USUAL_BYTES,
            Some(value) => integer("max_bytes", value, LEAST_BYTES, MOST_BYTES)?,
        };
        // A damaged dump is answered from the part that could be read, with the damage as a
        // warning.
        let mut words: Vec<OsString> =
            vec![self.command.into(), "--format=json".into(), "--lenient".into()];
        words.extend(self.option.map(|option| format!("--{option}").into()));
        let mut by_position = Vec::new();
        for argument in &self.arguments {
            let values = match given.get(&argument.name) {
                None | Some(Value::Null) => Vec::from_iter(argument.default.clone()),
                Some(value) => argument.values(value)?,
            };
            if values.is_empty() && argument.is_required {
                return Err(format!("{} needs the argument {:?}", self.name, argument.name));
            }
            match &argument.option {
                None => by_position.extend(values.into_iter().map(OsString::from)),
                Some(option) => words.extend(values.iter().map(|value| match argument.kind {
                    Kind::Flag => format!("--{option}").into(),
                    _ => format!("--{option}={value}").into(),
                })),
            }
        }
        words.push("--".into());
        words.extend(by_position);
        Ok(Call { words, most: usize::try_from(most).unwrap_or(usize::MAX) })
    }
}

impl Argument {
    fn of(arg: &Arg, only_file: Option<&str>) -> Self {
        let mut name = arg.get_long().unwrap_or(arg.get_id().as_str()).replace('-', "_");
        if arg.is_positional() && FILES.contains(&name.as_str()) {
            "file".clone_into(&mut name);
        }
        let kind = Kind::of(arg, &name);
        let default = only_file.filter(|_| name == "file").map(str::to_owned);
        let mut schema = kind.schema();
        let mut set = |key: &str, value: Value| match (kind, schema.get_mut("items")) {
            (Kind::Texts, Some(items)) if key == "enum" => items[key] = value,
            _ => schema[key] = value,
        };
        let values = arg.get_possible_values();
        if !values.is_empty() && !matches!(kind, Kind::Flag) {
            set("enum", values.iter().map(|value| value.get_name()).collect());
        }
        let written = arg.get_default_values().first().and_then(|value| value.to_str());
        match (written.or(default.as_deref()), kind) {
            (Some(value), Kind::Text) => set("default", value.into()),
            (Some(value), Kind::Texts) if default.is_some() => set("default", json!([value])),
            (Some(value), Kind::Integer { .. }) => set("default", value.parse::<u64>().ok().into()),
            _ => {}
        }
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        // Requests have no standard input or output, and write new files only.
        let help = help
            .replace("; `-` is standard input", "")
            .replace("; `-` reads it from standard input", "")
            .replace("; `-` is standard output and requires --to", ", which must not exist")
            .replace("0 = all; ", "")
            .replace(" in tables and json, all in jsonl and csv", "");
        set("description", help.into());
        Self {
            option: arg.get_long().map(str::to_owned),
            // `check` may find its files among those of `--against`.
            is_required: (arg.is_required_set() || name == "file") && default.is_none(),
            name,
            kind,
            default,
            schema,
        }
    }

    /// Makes this argument a list that ends with `next`.
    fn extend(&mut self, next: &Self) {
        let about = |argument: &Self| {
            argument.schema["description"].as_str().unwrap_or_default().to_owned()
        };
        let both = format!("{}. Then: {}", about(self), about(next));
        let default = self.default.as_ref().map(|file| json!([file]));
        self.kind = Kind::Texts;
        self.schema = self.kind.schema();
        self.schema["description"] = both.into();
        if let Some(default) = default {
            self.schema["default"] = default;
        }
    }

    fn values(&self, value: &Value) -> Result<Vec<String>, String> {
        let wrong = |expected| Err(format!("{} is {expected}, not {value}", self.name));
        match (self.kind, value) {
            (Kind::Flag, Value::Bool(wanted)) => Ok(Vec::from_iter(wanted.then(String::new))),
            (Kind::Flag, _) => wrong("true or false"),
            (Kind::Integer { least, most }, value) => {
                Ok(vec![integer(&self.name, value, least, most)?.to_string()])
            }
            // Numbers of objects and sizes are often written as numbers.
            (Kind::Text | Kind::Texts, Value::Number(number)) => Ok(vec![number.to_string()]),
            (Kind::Text | Kind::Texts, Value::String(text)) => Ok(vec![text.clone()]),
            (Kind::Text, _) => wrong("a string"),
            (Kind::Texts, Value::Array(values)) => {
                let texts: Option<_> =
                    values.iter().map(|value| value.as_str().map(str::to_owned)).collect();
                texts.map_or_else(|| wrong("a list of strings"), Ok)
            }
            (Kind::Texts, _) => wrong("a list of strings"),
        }
    }
}

impl Kind {
    fn of(arg: &Arg, name: &str) -> Self {
        let values = arg.get_value_parser().type_id();
        let is_integer = [TypeId::of::<u64>(), TypeId::of::<u32>(), TypeId::of::<u16>()]
            .iter()
            .any(|type_| values == *type_);
        // Sizes have units.
        let is_size = arg
            .get_value_names()
            .is_some_and(|names| names.iter().any(|name| name.as_str() == "SIZE"));
        match arg.get_action() {
            ArgAction::SetTrue => Self::Flag,
            ArgAction::Append => Self::Texts,
            _ if is_integer && !is_size => match name {
                "limit" | "entries" => Self::Integer { least: 1, most: MOST_ROWS },
                "paths" => Self::Integer { least: 1, most: MOST_PATHS },
                _ => Self::Integer { least: 0, most: u32::MAX.into() },
            },
            _ => Self::Text,
        }
    }

    fn schema(self) -> Value {
        match self {
            Self::Flag => json!({"type": "boolean"}),
            Self::Integer { least, most } => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            Self::Text => json!({"type": "string"}),
            Self::Texts => json!({"type": "array", "items": {"type": "string"}}),
        }
    }
}

fn integer(name: &str, value: &Value, least: u64, most: u64) -> Result<u64, String> {
    value
        .as_u64()
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| format!("{name} is a whole number from {least} to {most}, not {value}"))
}
