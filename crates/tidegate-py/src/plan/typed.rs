//! How objects of JSON are declared, so that Rust writes them and Python has a type for each.

use serde::Serialize;
use serde_json::Value;

/// A value in JSON with its type in Python.
pub(super) trait Typed: Serialize {
    /// The type as Python writes it.
    fn python() -> String;

    /// Whether the key is left out.
    fn is_absent(&self) -> bool {
        false
    }
}

/// A value whose key only some objects have.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct Sometimes<T>(pub(super) Option<T>);

impl<T> Default for Sometimes<T> {
    fn default() -> Sometimes<T> {
        Sometimes(None)
    }
}

/// It is there.
pub(super) fn there<T>(value: T) -> Sometimes<T> {
    Sometimes(Some(value))
}

impl<T: Typed> Typed for Sometimes<T> {
    fn python() -> String {
        format!("NotRequired[{}]", T::python())
    }

    fn is_absent(&self) -> bool {
        self.0.is_none()
    }
}

impl<T: Typed> Typed for Option<T> {
    fn python() -> String {
        format!("{} | None", T::python())
    }
}

impl<T: Typed> Typed for Vec<T> {
    fn python() -> String {
        format!("list[{}]", T::python())
    }
}

macro_rules! plain {
    ($($rust:ty => $python:literal),* $(,)?) => {
        $(impl Typed for $rust {
            fn python() -> String {
                $python.to_owned()
            }
        })*
    };
}

plain! {
    bool => "bool", u16 => "int", u32 => "int", u64 => "int", usize => "int", f64 => "float", String => "str",
    &'static str => "str",
    // Objects that only messages show.
    Value => "dict[str, Any]",
}

/// Declares words: enums in Rust, `Literal`s in Python. `WORDS` has their Python.
macro_rules! words {
    ($($(#[doc = $about:literal])* $name:ident { $first:ident = $of_first:literal, $($word:ident = $text:literal),* $(,)? })*) => {
        $(
            $(#[doc = $about])*
            #[derive(Default, Serialize)]
            pub(super) enum $name {
                #[default]
                #[serde(rename = $of_first)]
                $first,
                $(#[serde(rename = $text)] $word),*
            }

            impl Typed for $name {
                fn python() -> String {
                    stringify!($name).to_owned()
                }
            }
        )*

        /// All words.
        const WORDS: &[&str] = &[$(concat!(
            $("#:", $about, "\n",)*
            stringify!($name), " = Literal[\n    \"", $of_first, "\",\n", $("    \"", $text, "\",\n",)* "]\n"
        )),*];
    };
}

/// Declares objects: a struct in Rust, a `TypedDict` in Python. `OBJECTS` has their Python.
macro_rules! objects {
    ($($(#[doc = $about:literal])* $name:ident { $($(#[doc = $note:literal])* $key:ident: $kind:ty,)* })*) => {
        $(
            $(#[doc = $about])*
            #[derive(Default, Serialize)]
            pub(super) struct $name {
                $($(#[doc = $note])*
                #[serde(skip_serializing_if = "Typed::is_absent")]
                pub(super) $key: $kind,)*
            }

            impl Typed for $name {
                fn python() -> String {
                    stringify!($name).to_owned()
                }
            }

            impl $name {
                /// The class as Python has it.
                fn class() -> String {
                    let about: &[&str] = &[$($about.trim()),*];
                    let mut text = format!("class {}(TypedDict):\n    \"\"\"{}\"\"\"\n\n", stringify!($name), about.join("\n    "));
                    $(
                        $(text += &format!("    #: {}\n", $note.trim());)*
                        text += &format!("    {}: {}\n", stringify!($key), <$kind as Typed>::python());
                    )*
                    text
                }
            }
        )*

        /// The classes of all objects.
        const CLASSES: &[fn() -> String] = &[$($name::class),*];
    };
}

pub(super) use {objects, words};
